-- Let time pass: runs that wait for a time become due, leases expire except those of the runs in
-- `held`, and executions have been running for longer. Rows that another session has locked do not
-- change. Due runs are found in the order of their new times, which depend on the salt and the
-- paths.
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
