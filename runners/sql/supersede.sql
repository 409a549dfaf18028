--! one partition: execution
-- A container begins anew: what its body did before is history.
UPDATE runners_run
   SET superseded = true
 WHERE execution_id = %(execution)s AND NOT superseded AND starts_with(step_path, %(prefix)s)
