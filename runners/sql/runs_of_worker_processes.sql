-- Return the runs that the processes of Valkyr's workers hold now; their `leased_by` contains `|`.
-- There are as many of them as busy processes and threads.
SELECT id, execution_id, lease_token, leased_by, crashes
  FROM runners_run
 WHERE finished_at IS NULL AND state = 'RUNNING' AND strpos(leased_by, '|') > 0
 ORDER BY due_at
 LIMIT %(batch)s
