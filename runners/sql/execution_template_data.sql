-- Return what an output template may read of the execution itself: its variables, its input, and
-- the time of its start. The caller holds the execution's lock.
SELECT context_data::json, trigger_payload::json, started_at
  FROM executions_workflowexecution
 WHERE id = %(execution)s
