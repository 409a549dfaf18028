-- Runs held by processes of ours now: as many as there are busy workers.
SELECT id, execution_id, lease_token, leased_by, crashes
  FROM runners_run
 WHERE finished_at IS NULL AND state = 'RUNNING' AND strpos(leased_by, '|') > 0
 ORDER BY due_at
 LIMIT %(batch)s
