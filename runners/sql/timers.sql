-- Waiting runs whose time has come, those of executions under way; a pause leaves them for later.
-- Plain read: waking them looks again. Those of a paused execution are passed by on its index.
SELECT r.id, r.execution_id
  FROM runners_run r
  JOIN executions_workflowexecution e ON e.id = r.execution_id
 WHERE r.state = 'WAITING' AND r.due_at <= clock_timestamp()
   AND e.state IN ('PAUSED', 'RUNNING')
 ORDER BY r.due_at
 LIMIT %(batch)s
