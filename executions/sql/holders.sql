-- How many executions hold each key.
SELECT k.workflow, k.key,
       (SELECT count(*)
          FROM executions_workflowexecution e
         WHERE e.workflow_id = k.workflow AND e.concurrency_key = k.key
           AND e.state IN ('RUNNING', 'PAUSED'))
  FROM unnest(%(workflows)s::uuid[], %(keys)s::text[]) AS k (workflow, key)
