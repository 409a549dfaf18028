-- Return the slugs of the workflows of an execution and its parents, the root first.
WITH RECURSIVE line AS (
    SELECT id, parent_id, workflow_id, depth
      FROM executions_workflowexecution WHERE id = %(execution)s
    UNION ALL
    SELECT p.id, p.parent_id, p.workflow_id, p.depth
      FROM line l JOIN executions_workflowexecution p ON p.id = l.parent_id
)
SELECT w.slug FROM line l JOIN executions_workflow w ON w.id = l.workflow_id ORDER BY l.depth
