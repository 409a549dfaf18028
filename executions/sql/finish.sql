-- RUNNING -> SUCCESS or FAILED, guarded; the caller holds the execution's lock. Also says whether it
-- lets go of what others may wait for: a key, or a place where places are counted.
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
