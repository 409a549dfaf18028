-- What an execution is in now; asked every few turns.
SELECT state FROM executions_workflowexecution WHERE id = %(execution)s
