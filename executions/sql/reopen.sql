--! plan each time
-- FAILED -> RUNNING for locked executions, with what was left of their time, a minute at least.
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
