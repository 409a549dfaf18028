--! plan each time
-- Executions in which everything waits give their places up; until they wake nothing of them is
-- claimed, and no duty looks for what moves in them. The caller holds their locks. Answers where a
-- place came free that others may wait for. Nothing is joined here: while the statistics lag the
-- planner would look through all executions of a workspace.
UPDATE executions_workflowexecution e
   SET place = 'FREE'
 WHERE e.id = ANY(%(ids)s) AND (e.state IN ('RUNNING', 'PAUSED')) IS TRUE AND e.place <> 'FREE'
RETURNING e.id, e.workspace_id, e.parent_id IS NULL AND (
    SELECT t.max_concurrent IS NOT NULL
      FROM executions_workspace w
      JOIN executions_tier t ON t.id = w.tier_id
     WHERE w.id = e.workspace_id)
