-- Count the executions that have not ended.
SELECT count(*) FROM executions_workflowexecution
 WHERE state IN ('PENDING', 'RUNNING', 'PAUSED')
