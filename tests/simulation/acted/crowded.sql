-- Keys that more executions hold than may.
SELECT concurrency_key, count(*), max(concurrency_limit)
  FROM executions_workflowexecution
 WHERE concurrency_key IS NOT NULL AND state IN ('RUNNING', 'PAUSED')
 GROUP BY concurrency_key
HAVING count(*) > max(concurrency_limit)
