-- Return a page of the workspaces in which executions wait for a slot or a key. Also return whether
-- some were started within transactions and are not counted yet (ASKED). `OFFSET 0` keeps one
-- lookup for each workspace.
SELECT w.id,
       EXISTS (SELECT 1 FROM executions_workflowexecution e
                WHERE e.workspace_id = w.id AND e.place = 'ASKED' AND e.state = 'PENDING'
                ORDER BY e.priority DESC, e.created_at OFFSET 0)
  FROM executions_workspace w
 WHERE w.id > %(after)s
   AND (EXISTS (SELECT 1 FROM executions_workflowexecution e
                WHERE e.workspace_id = w.id AND e.place = 'WANTED'
                     ORDER BY e.priority DESC, e.created_at OFFSET 0)
    OR EXISTS (SELECT 1 FROM executions_workflowexecution e
                WHERE e.workspace_id = w.id AND e.state = 'PENDING'
                  AND e.concurrency_key IS NULL
                     ORDER BY e.priority DESC, e.created_at OFFSET 0)
    OR EXISTS (SELECT 1 FROM executions_workflowexecution e
                WHERE e.workspace_id = w.id AND e.state = 'PENDING'
                  AND e.concurrency_key IS NOT NULL
                     ORDER BY e.workflow_id OFFSET 0))
 ORDER BY w.id
 LIMIT %(batch)s
