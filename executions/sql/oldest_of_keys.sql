-- Return the oldest unfinished executions of each concurrency key, `count` for each key. `OFFSET 0`
-- prevents the planner from reading all executions of the workflow by an index that has this order.
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
