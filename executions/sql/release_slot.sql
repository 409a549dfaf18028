--! plan each time
-- Release the slots of executions whose live runs all wait. Until they wake, no worker claims their
-- runs, and the duty that plans stalled executions skips them. The caller holds the executions'
-- locks. Return each execution, its workspace, and whether the slot is one that others may wait
-- for. Nothing is joined here: with outdated statistics, the planner would read all executions of a
-- workspace.
UPDATE executions_workflowexecution e
   SET place = 'FREE'
 WHERE e.id = ANY(%(ids)s) AND (e.state IN ('RUNNING', 'PAUSED')) IS TRUE AND e.place <> 'FREE'
RETURNING e.id, e.workspace_id, e.parent_id IS NULL AND (
    SELECT t.max_concurrent IS NOT NULL
      FROM executions_workspace w
      JOIN executions_tier t ON t.id = w.tier_id
     WHERE w.id = e.workspace_id)
