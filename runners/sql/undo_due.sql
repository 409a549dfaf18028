--! one partition: execution
-- Whether an execution that is to end has anything to undo: a task with an undo that succeeded in
-- it, or whose last step runs and may succeed yet.
SELECT EXISTS (
    SELECT 1
      FROM runners_run
     WHERE execution_id = %(execution)s AND NOT superseded AND module_id = ANY(%(undone)s)
       AND ((state = 'SUCCESS' AND cached_from IS NULL)
            OR (state IN ('LEASED', 'RUNNING') AND lease_until > clock_timestamp())) IS TRUE)
