--! plan each time
-- What one worker holds, or a child of it that ended: found by its name, which comes first.
SELECT id, execution_id, lease_token, leased_by
  FROM runners_run
 WHERE finished_at IS NULL AND state = 'RUNNING' AND starts_with(leased_by, %(name)s)
 ORDER BY due_at
 LIMIT 2000
