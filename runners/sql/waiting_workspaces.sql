-- Workspaces in which executions wait for a place.
SELECT w.id
  FROM executions_workspace w
 WHERE EXISTS (SELECT 1 FROM executions_workflowexecution e
                WHERE e.workspace_id = w.id AND e.state = 'PENDING')
 LIMIT %(batch)s
