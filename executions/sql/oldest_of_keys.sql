-- The oldest unfinished executions with each key, so many of each as are asked for.
SELECT e.id
  FROM unnest(%(keys)s::text[], %(counts)s::int[]) AS k (key, count)
 CROSS JOIN LATERAL (
       SELECT id
         FROM executions_workflowexecution
        WHERE workflow_id = %(workflow)s AND concurrency_key = k.key
          AND state IN ('PENDING', 'RUNNING', 'PAUSED')
        ORDER BY created_at, id
        LIMIT k.count) e
 ORDER BY e.id
