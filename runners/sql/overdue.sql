-- Executions whose time is over; a pause does not stop their clock.
SELECT id
  FROM executions_workflowexecution
 WHERE finished_at IS NULL AND deadline_at <= statement_timestamp()
 ORDER BY deadline_at
 LIMIT %(batch)s
