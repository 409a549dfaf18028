--! plan each time
-- Lock those who are to run, and see what they are now: others may have moved them meanwhile. A fork
-- is never fresh: it brings runs of its origin.
SELECT id, version_id, priority, epoch, started_at IS NULL AND origin_point = '', state,
       concurrency_limit
  FROM executions_workflowexecution
 WHERE id = ANY(%(ids)s)
   AND (state = 'PENDING' OR (place = 'WANTED' AND state IN ('RUNNING', 'PAUSED')))
 ORDER BY id
   FOR NO KEY UPDATE
