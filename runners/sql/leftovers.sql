-- Due live runs whose execution is final.
SELECT DISTINCT r.execution_id
  FROM (SELECT execution_id FROM runners_run
         WHERE state IN ('LEASED', 'PENDING', 'RUNNING', 'WAITING')
           AND due_at <= statement_timestamp()
         LIMIT 10000) r
  JOIN executions_workflowexecution e ON e.id = r.execution_id
 WHERE e.state IN ('CANCELLED', 'FAILED', 'SUCCESS', 'TIMEOUT')
 LIMIT %(batch)s
