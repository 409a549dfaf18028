-- Return the current state of an execution.
SELECT state FROM executions_workflowexecution WHERE id = %(execution)s
