-- What waits for a time is due, leases are over but those of `held`, executions have run for longer.
-- What another session has locked now is left as it is. What is due is handed out in the order of
-- the new times, which the salt and the paths make.
WITH aged AS (
    UPDATE executions_workflowexecution
       SET started_at = started_at - interval '6 s'
     WHERE id IN (SELECT id FROM executions_workflowexecution
                   WHERE state = 'RUNNING' FOR UPDATE SKIP LOCKED)
)
UPDATE runners_run
   SET due_at = statement_timestamp() - interval '1 s'
           - (hashtextextended(step_path, %(salt)s) & 1048575) * interval '1 microsecond',
       retry_after = CASE WHEN state = 'PENDING' AND retry_after IS NOT NULL
           THEN clock_timestamp() - interval '1 s' ELSE retry_after END,
       lease_until = CASE WHEN state = 'RUNNING'
           THEN clock_timestamp() - interval '1 s' ELSE lease_until END
 WHERE id IN (
       SELECT id FROM runners_run
        WHERE state = 'PENDING'
           OR state = 'RUNNING' AND NOT id = ANY(%(held)s)
           OR state = 'WAITING' AND waits_for = 'timer'
       FOR UPDATE SKIP LOCKED)
