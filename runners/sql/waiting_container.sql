--! one partition: execution
-- Return a container that waits for its body; the caller holds the execution's lock.
SELECT id, progress::json, queue
  FROM runners_run
 WHERE execution_id = %(execution)s AND epoch = %(epoch)s AND step_path = %(path)s
   AND state IN ('LEASED', 'PENDING', 'RUNNING', 'SKIPPED', 'SUCCESS', 'WAITING')
   AND NOT superseded
   AND (state = 'WAITING') IS TRUE
