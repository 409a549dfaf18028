-- The executions that steps started.
SELECT id FROM executions_workflowexecution WHERE parent_id IS NOT NULL ORDER BY id
