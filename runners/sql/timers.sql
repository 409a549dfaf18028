-- Waiting runs whose time has come. Plain read: waking them looks again. One whose execution is over
-- is no concern of this scan; ending an execution ends its runs.
WITH due AS MATERIALIZED (
    SELECT id, execution_id, due_at
      FROM runners_run
     WHERE state = 'WAITING' AND due_at <= statement_timestamp()
     ORDER BY due_at
     LIMIT %(batch)s
)
SELECT d.id, d.execution_id
  FROM due d
  JOIN executions_workflowexecution e ON e.id = d.execution_id
 WHERE e.state IN ('PAUSED', 'RUNNING')
 ORDER BY d.due_at
