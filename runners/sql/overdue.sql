-- Executions whose time is over; a pause does not stop their clock.
SELECT id
  FROM executions_workflowexecution
 WHERE state IN ('PENDING', 'PAUSED', 'RUNNING') AND deadline_at <= statement_timestamp()
 ORDER BY deadline_at
 LIMIT %(batch)s
