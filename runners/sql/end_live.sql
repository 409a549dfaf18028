--! one partition: execution
-- The execution is over, or is to be undone: its live runs end, their holders are fenced, and
-- nothing may wake them.
-- Spared are held runs of the modules given: if they succeed, they have to be undone.
-- The caller holds the execution's lock, taken in a statement before this one.
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
