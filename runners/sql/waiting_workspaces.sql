-- Workspaces in which executions wait for a place or for a key, page by page; and whether some were
-- started within transactions and are not counted yet.
SELECT w.id,
       EXISTS (SELECT 1 FROM executions_workflowexecution e
                WHERE e.workspace_id = w.id AND e.place = 'ASKED' AND e.state = 'PENDING')
  FROM executions_workspace w
 WHERE w.id > %(after)s
   AND (EXISTS (SELECT 1 FROM executions_workflowexecution e
                WHERE e.workspace_id = w.id AND e.place = 'WANTED')
    OR EXISTS (SELECT 1 FROM executions_workflowexecution e
                WHERE e.workspace_id = w.id AND e.state = 'PENDING'
                  AND e.concurrency_key IS NULL)
    OR EXISTS (SELECT 1 FROM executions_workflowexecution e
                WHERE e.workspace_id = w.id AND e.state = 'PENDING'
                  AND e.concurrency_key IS NOT NULL))
 ORDER BY w.id
 LIMIT %(batch)s
