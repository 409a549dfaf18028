-- Return the executions of a workspace to admit next, the highest priority first. At equal
-- priority, resumed executions that want a slot again (WANTED) come before pending ones, and older
-- ones before newer ones. Of the executions that wait for one concurrency key, at most as many are
-- returned as the key has free. The scan jumps from one key to the next: ten thousand executions
-- that wait for one key cost as much as one. An execution whose `place` is ASKED is not counted
-- yet, so it is not a candidate.
WITH RECURSIVE keys AS (
    (SELECT workflow_id, concurrency_key
       FROM executions_workflowexecution
      WHERE workspace_id = %(workspace)s AND state = 'PENDING' AND concurrency_key IS NOT NULL
      ORDER BY workflow_id, concurrency_key
      LIMIT 1)
    UNION ALL
    SELECT further.workflow_id, further.concurrency_key
      FROM keys k
     CROSS JOIN LATERAL (
           SELECT workflow_id, concurrency_key
             FROM executions_workflowexecution
            WHERE workspace_id = %(workspace)s AND state = 'PENDING'
              AND concurrency_key IS NOT NULL
              AND (workflow_id, concurrency_key) > (k.workflow_id, k.concurrency_key)
            ORDER BY workflow_id, concurrency_key
            LIMIT 1) further
), keyed AS (
    SELECT waiting.*
      FROM keys k
     CROSS JOIN LATERAL (
           SELECT concurrency_limit AS most
             FROM executions_workflowexecution
            WHERE workspace_id = %(workspace)s AND workflow_id = k.workflow_id
              AND concurrency_key = k.concurrency_key AND state = 'PENDING'
              AND place <> 'ASKED'
            ORDER BY priority DESC, created_at
            LIMIT 1) head
     CROSS JOIN LATERAL (
           SELECT count(*) AS holders
             FROM executions_workflowexecution
            WHERE workflow_id = k.workflow_id AND concurrency_key = k.concurrency_key
              AND state IN ('RUNNING', 'PAUSED')) taken
     CROSS JOIN LATERAL (
           SELECT id, priority, created_at, workflow_id, concurrency_key
             FROM executions_workflowexecution
            WHERE workspace_id = %(workspace)s AND workflow_id = k.workflow_id
              AND concurrency_key = k.concurrency_key AND state = 'PENDING'
              AND place <> 'ASKED'
            ORDER BY priority DESC, created_at
            LIMIT greatest(0, least(%(places)s, head.most - taken.holders))) waiting
), keyless AS (
    SELECT id, priority, created_at, workflow_id, concurrency_key
      FROM executions_workflowexecution
     WHERE workspace_id = %(workspace)s AND state = 'PENDING' AND concurrency_key IS NULL
       AND place <> 'ASKED'
     ORDER BY priority DESC, created_at
     LIMIT %(places)s
), woken AS (
    SELECT id, priority, created_at, workflow_id, concurrency_key
      FROM executions_workflowexecution
     WHERE workspace_id = %(workspace)s AND place = 'WANTED'
     ORDER BY priority DESC, created_at
     LIMIT %(places)s
)
SELECT id, workflow_id, concurrency_key, woke
  FROM (SELECT *, true AS woke FROM woken
        UNION ALL SELECT *, false FROM keyless
        UNION ALL SELECT *, false FROM keyed) candidate
 ORDER BY priority DESC, woke DESC, created_at, id
 LIMIT %(places)s
