-- What an output template may read of the execution itself; the caller holds its lock.
SELECT context_data::json, trigger_payload::json, started_at
  FROM executions_workflowexecution
 WHERE id = %(execution)s
