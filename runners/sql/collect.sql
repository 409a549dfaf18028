-- The outputs of given steps that succeeded.
SELECT step_path, outputs::json
  FROM runners_run
 WHERE execution_id = %(execution)s AND epoch = %(epoch)s AND step_path = ANY(%(paths)s)
   AND state IN ('LEASED', 'PENDING', 'RUNNING', 'SKIPPED', 'SUCCESS', 'WAITING')
   AND NOT superseded AND (state = 'SUCCESS') IS TRUE
