-- Return the queue position of an execution that waits for a slot or for its concurrency key.
-- Waiting executions are counted up to `most`, because there may be many. The executions before it
-- are counted in the order of admission. Some of them may wait for a key, so that it is admitted
-- before them.
WITH own AS (
    SELECT id, workspace_id, workflow_id, concurrency_key, priority, created_at, place
      FROM executions_workflowexecution WHERE id = %(execution)s
)
SELECT w.name, t.max_concurrent,
       CASE WHEN t.max_concurrent IS NULL THEN 0 ELSE (
            SELECT count(*) FROM executions_workflowexecution e
             WHERE e.finished_at IS NULL AND e.workspace_id = own.workspace_id
               AND e.state IN ('RUNNING', 'PAUSED')
               AND e.place = 'HELD' AND e.parent_id IS NULL) END,
       (SELECT count(*) FROM (
            SELECT 1 FROM executions_workflowexecution e
             WHERE e.workspace_id = own.workspace_id AND e.place = 'WANTED' AND e.id <> own.id
               AND (e.priority > own.priority OR (e.priority = own.priority
                    AND (own.place <> 'WANTED' OR e.created_at < own.created_at)))
             LIMIT %(most)s) woken)
     + (SELECT count(*) FROM (
            SELECT 1 FROM executions_workflowexecution e
             WHERE e.workspace_id = own.workspace_id AND e.state = 'PENDING'
               AND e.concurrency_key IS NULL
               AND (e.priority > own.priority OR (e.priority = own.priority
                    AND own.place <> 'WANTED' AND e.created_at < own.created_at))
             LIMIT %(most)s) keyless)
     + (SELECT count(*) FROM (
            SELECT 1 FROM executions_workflowexecution e
             WHERE e.workspace_id = own.workspace_id AND e.state = 'PENDING'
               AND e.concurrency_key IS NOT NULL
               AND (e.priority > own.priority OR (e.priority = own.priority
                    AND own.place <> 'WANTED' AND e.created_at < own.created_at))
             LIMIT %(most)s) keyed),
       ARRAY(SELECT e.id FROM executions_workflowexecution e
              WHERE e.workflow_id = own.workflow_id AND e.concurrency_key = own.concurrency_key
                AND e.state IN ('RUNNING', 'PAUSED')
              ORDER BY e.started_at LIMIT 5),
       (SELECT count(*) FROM executions_workflowexecution e
         WHERE e.workflow_id = own.workflow_id AND e.concurrency_key = own.concurrency_key
           AND e.state IN ('RUNNING', 'PAUSED')),
       (SELECT count(*) FROM (
            SELECT 1 FROM executions_workflowexecution e
             WHERE e.workspace_id = own.workspace_id AND e.workflow_id = own.workflow_id
               AND e.concurrency_key = own.concurrency_key AND e.state = 'PENDING'
               AND (e.priority > own.priority
                    OR (e.priority = own.priority AND e.created_at < own.created_at))
             LIMIT %(most)s) mine)
  FROM own
  JOIN executions_workspace w ON w.id = own.workspace_id
  JOIN executions_tier t ON t.id = w.tier_id
