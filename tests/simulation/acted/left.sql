-- Executions that are not over, and messages nobody will send for.
SELECT count(*) FROM executions_workflowexecution
 WHERE state IN ('PENDING', 'RUNNING', 'PAUSED')
