-- Move a RUNNING execution to SUCCESS or FAILED; the caller holds the execution's lock. Also return
-- whether the execution frees something that others may wait for: a concurrency key, or a slot in a
-- workspace whose slots are limited.
UPDATE executions_workflowexecution
   SET state = %(state)s,
       place = 'HELD',
       output = %(output)s::jsonb,
       error_message = %(error_message)s,
       error_stack_trace = %(stack_trace)s,
       metrics_snapshot = %(metrics)s::jsonb,
       finished_at = clock_timestamp()
 WHERE id = %(execution)s AND (state = 'RUNNING') IS TRUE
RETURNING parent_run_id, trigger_id, concurrency_key IS NOT NULL OR (
    SELECT t.max_concurrent IS NOT NULL
      FROM executions_workspace w
      JOIN executions_tier t ON t.id = w.tier_id
     WHERE w.id = executions_workflowexecution.workspace_id)
