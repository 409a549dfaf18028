--! plan each time
-- Executions of dead letters that may go on without more ado: roots of workspaces without limits,
-- that no key holds back, that do not sleep and were not undone. Locked, in the order of their ids; who is locked by
-- somebody else is left out, and comes another time.
SELECT e.id, e.state, e.epoch, e.priority, e.version_id
  FROM executions_workflowexecution e
 WHERE e.id = ANY(%(ids)s)
   AND e.compensation = ''
   AND e.parent_id IS NULL AND e.concurrency_key IS NULL AND e.place = 'HELD'
   AND e.state IN ('FAILED', 'PAUSED', 'RUNNING')
 ORDER BY e.id
   FOR NO KEY UPDATE SKIP LOCKED
