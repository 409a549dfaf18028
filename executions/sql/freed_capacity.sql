-- Return what an execution that ended or was suspended frees: a slot if the workspace's slots are
-- limited, otherwise its concurrency key. Return a row only if another execution waits for it.
-- `OFFSET 0` keeps each check separate: in a join, the executions that wait in other workspaces
-- would be read too.
SELECT own.workspace_id, own.workflow_id, own.concurrency_key, t.max_concurrent IS NOT NULL
  FROM executions_workflowexecution own
  JOIN executions_workspace w ON w.id = own.workspace_id
  JOIN executions_tier t ON t.id = w.tier_id
 WHERE own.id = %(ended)s
   AND CASE WHEN t.max_concurrent IS NULL
       THEN own.concurrency_key IS NOT NULL AND EXISTS (
            SELECT 1 FROM executions_workflowexecution e
             WHERE e.workspace_id = own.workspace_id AND e.workflow_id = own.workflow_id
               AND e.concurrency_key = own.concurrency_key AND e.state = 'PENDING' OFFSET 0)
       ELSE EXISTS (SELECT 1 FROM executions_workflowexecution e
                     WHERE e.workspace_id = own.workspace_id AND e.place = 'WANTED'
                     ORDER BY e.priority DESC, e.created_at OFFSET 0)
         OR EXISTS (SELECT 1 FROM executions_workflowexecution e
                     WHERE e.workspace_id = own.workspace_id AND e.state = 'PENDING'
                       AND e.concurrency_key IS NULL
                     ORDER BY e.priority DESC, e.created_at OFFSET 0)
         OR EXISTS (SELECT 1 FROM executions_workflowexecution e
                     WHERE e.workspace_id = own.workspace_id AND e.state = 'PENDING'
                       AND e.concurrency_key IS NOT NULL
                     ORDER BY e.workflow_id OFFSET 0)
       END
