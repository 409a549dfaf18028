-- RUNNING -> SUCCESS or FAILED, guarded; the caller holds the execution's lock.
UPDATE executions_workflowexecution
   SET state = %(state)s,
       place = 'HELD',
       output = %(output)s::jsonb,
       error_message = %(error_message)s,
       error_stack_trace = %(stack_trace)s,
       metrics_snapshot = %(metrics)s::jsonb,
       finished_at = clock_timestamp()
 WHERE id = %(execution)s AND (state = 'RUNNING') IS TRUE
RETURNING id, parent_run_id
