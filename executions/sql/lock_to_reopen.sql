--! plan each time
-- Lock those executions of dead letters that can be reopened together: roots without a concurrency
-- key, which hold their slot and were not undone. The caller has checked that the workspace's slots
-- are not limited. The rows are locked in the order of their IDs. Executions that another
-- transaction has locked are omitted; a later call handles them.
SELECT e.id, e.state, e.epoch, e.priority, e.version_id
  FROM executions_workflowexecution e
 WHERE e.id = ANY(%(ids)s)
   AND e.compensation = ''
   AND e.parent_id IS NULL AND e.concurrency_key IS NULL AND e.place = 'HELD'
   AND e.state IN ('FAILED', 'PAUSED', 'RUNNING')
 ORDER BY e.id
   FOR NO KEY UPDATE SKIP LOCKED
