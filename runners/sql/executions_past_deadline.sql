-- Return executions whose deadline has passed; a pause does not extend it.
SELECT id
  FROM executions_workflowexecution
 WHERE finished_at IS NULL AND deadline_at <= statement_timestamp()
 ORDER BY deadline_at
 LIMIT %(batch)s
