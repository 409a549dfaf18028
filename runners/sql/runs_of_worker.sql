--! plan each time
-- Return the runs that a worker or its child processes hold, some of which may have ended.
-- `leased_by` begins with the worker's name.
SELECT id, execution_id, lease_token, leased_by
  FROM runners_run
 WHERE finished_at IS NULL AND state = 'RUNNING' AND starts_with(leased_by, %(name)s)
 ORDER BY due_at
 LIMIT 2000
