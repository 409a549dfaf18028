-- Merge written variables into the execution's variables, and return all; the caller holds the
-- execution's lock.
UPDATE executions_workflowexecution
   SET context_data = context_data || %(changes)s::jsonb
 WHERE id = %(execution)s
RETURNING context_data::json
