--! one partition: execution
-- Return the failures with the outcome `error` inside a container, the earliest first.
SELECT step_path, error, error_type
  FROM runners_run
 WHERE execution_id = %(execution)s AND epoch = %(epoch)s AND state = 'FAILED'
   AND outcome = 'error' AND NOT superseded AND starts_with(step_path, %(prefix)s)
 ORDER BY finished_at, id
