--! plan each time
-- Lock the candidates for admission, and return their current values, because other transactions
-- may have changed them. A fork is never fresh, because it has runs of its origin.
SELECT id, version_id, priority, epoch, started_at IS NULL AND origin_point = '', state,
       concurrency_limit
  FROM executions_workflowexecution
 WHERE id = ANY(%(ids)s)
   AND (state = 'PENDING' OR (place = 'WANTED' AND state IN ('RUNNING', 'PAUSED')))
 ORDER BY id
   FOR NO KEY UPDATE
