-- The execution is over: its live runs end, their holders are fenced, and nothing may wake them.
-- The caller holds the execution's lock and changed its state in a statement before this one.
WITH forgotten AS (
    DELETE FROM runners_waiter WHERE execution_id = %(execution)s
)
UPDATE runners_run
   SET state = 'CANCELLED', lease_token = lease_token + 1, finished_at = clock_timestamp(),
       lease_until = NULL, retry_after = NULL
 WHERE execution_id = %(execution)s
   AND state IN ('PENDING', 'LEASED', 'RUNNING', 'WAITING')
