--! plan each time
-- Move locked executions from FAILED to RUNNING. Each gets the rest of its time, at least a minute;
-- one without a deadline gets its whole timeout.
UPDATE executions_workflowexecution
   SET state = 'RUNNING',
       place = 'HELD',
       deadline_at = clock_timestamp() + CASE
           WHEN deadline_at IS NOT NULL
           THEN greatest(interval '1 minute', deadline_at - finished_at)
           ELSE timeout_seconds * interval '1 second' END,
       finished_at = NULL,
       error_message = '',
       error_stack_trace = '',
       metrics_snapshot = NULL
 WHERE id = ANY(%(ids)s) AND state = 'FAILED'
