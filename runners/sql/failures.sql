--! one partition: execution
-- The failures inside a container that were minded, the first ones first.
SELECT step_path, error, error_type
  FROM runners_run
 WHERE execution_id = %(execution)s AND epoch = %(epoch)s AND state = 'FAILED'
   AND outcome = 'error' AND NOT superseded AND starts_with(step_path, %(prefix)s)
 ORDER BY finished_at, id
