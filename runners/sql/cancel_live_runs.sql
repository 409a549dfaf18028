--! one partition: execution
-- End the live runs of an execution that has ended or will be undone. Their holders are fenced, and
-- the execution's waiters are deleted, so that nothing can wake the runs.
-- Leased runs of the given modules continue: if they succeed, they must be undone.
-- The caller holds the execution's lock, which it took in an earlier statement.
WITH forgotten AS (
    DELETE FROM runners_waiter WHERE execution_id = %(execution)s
)
UPDATE runners_run
   SET state = 'CANCELLED', lease_token = lease_token + 1, finished_at = clock_timestamp(),
       lease_until = NULL, retry_after = NULL
 WHERE execution_id = %(execution)s
   AND state IN ('PENDING', 'LEASED', 'RUNNING', 'WAITING')
   AND NOT (state IN ('LEASED', 'RUNNING') AND lease_until > clock_timestamp()
            AND module_id = ANY(%(spared)s))
