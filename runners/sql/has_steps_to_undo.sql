--! one partition: execution
-- Return whether an execution that will end has anything to undo. This is a task with an undo step
-- that succeeded in this execution, or whose last step is running and may still succeed.
SELECT EXISTS (
    SELECT 1
      FROM runners_run
     WHERE execution_id = %(execution)s AND NOT superseded AND module_id = ANY(%(undone)s)
       AND ((state = 'SUCCESS' AND cached_from IS NULL)
            OR (state IN ('LEASED', 'RUNNING') AND lease_until > clock_timestamp())) IS TRUE)
