-- The oldest unfinished executions with each key, so many of each as are asked for. OFFSET keeps the
-- planner from reading the workflow's whole list, which is in this order.
SELECT e.id
  FROM unnest(%(keys)s::text[], %(counts)s::int[]) AS k (key, count)
 CROSS JOIN LATERAL (
       SELECT id
         FROM (SELECT id, created_at
                 FROM executions_workflowexecution
                WHERE workflow_id = %(workflow)s AND concurrency_key = k.key
                  AND state IN ('PENDING', 'RUNNING', 'PAUSED')
               OFFSET 0) unfinished
        ORDER BY created_at, id
        LIMIT k.count) e
 ORDER BY e.id
