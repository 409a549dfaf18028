-- Executions that gave their place up, yet have a step that waits for a worker.
SELECT DISTINCT e.id
  FROM (SELECT execution_id
          FROM runners_run
         WHERE state = 'PENDING' AND due_at <= statement_timestamp()
         ORDER BY due_at
         LIMIT 10000) r
  JOIN executions_workflowexecution e ON e.id = r.execution_id
 WHERE e.place = 'FREE' AND e.state IN ('RUNNING', 'PAUSED')
 LIMIT %(batch)s
