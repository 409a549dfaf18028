-- Count the executions that hold each concurrency key, and those that wait for it, up to `most`.
SELECT k.workflow, k.key,
       (SELECT count(*)
          FROM executions_workflowexecution e
         WHERE e.workflow_id = k.workflow AND e.concurrency_key = k.key
           AND e.state IN ('RUNNING', 'PAUSED')),
       (SELECT count(*)
          FROM (SELECT 1
                  FROM executions_workflowexecution e
                 WHERE e.workflow_id = k.workflow AND e.concurrency_key = k.key
                   AND e.state = 'PENDING'
                 LIMIT %(most)s) AS waiting)
  FROM unnest(%(workflows)s::uuid[], %(keys)s::text[]) AS k (workflow, key)
