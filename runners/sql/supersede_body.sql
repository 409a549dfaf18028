--! one partition: execution
-- Mark the runs of a container's body as superseded, because a new attempt of the container begins.
UPDATE runners_run
   SET superseded = true
 WHERE execution_id = %(execution)s AND NOT superseded AND starts_with(step_path, %(prefix)s)
