-- Return the executions to admit next for a concurrency key, best first: at most as many as the key
-- has free.
SELECT waiting.id, %(workflow)s::uuid, %(key)s::text, false
  FROM (SELECT concurrency_limit AS most
          FROM executions_workflowexecution
         WHERE workspace_id = %(workspace)s AND workflow_id = %(workflow)s
           AND concurrency_key = %(key)s AND state = 'PENDING' AND place <> 'ASKED'
         ORDER BY priority DESC, created_at
         LIMIT 1) head
 CROSS JOIN LATERAL (
       SELECT count(*) AS holders
         FROM executions_workflowexecution
        WHERE workflow_id = %(workflow)s AND concurrency_key = %(key)s
          AND state IN ('RUNNING', 'PAUSED')) taken
 CROSS JOIN LATERAL (
       SELECT id
         FROM executions_workflowexecution
        WHERE workspace_id = %(workspace)s AND workflow_id = %(workflow)s
          AND concurrency_key = %(key)s AND state = 'PENDING' AND place <> 'ASKED'
        ORDER BY priority DESC, created_at
        LIMIT greatest(0, least(%(places)s, head.most - taken.holders))) waiting
