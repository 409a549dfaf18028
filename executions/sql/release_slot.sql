-- Executions in which everything waits give their places up; until they wake nothing of them is
-- claimed, and no duty looks for what moves in them. The caller holds their locks. Answers where a
-- place came free that others may wait for.
UPDATE executions_workflowexecution e
   SET place = 'FREE'
  FROM executions_workspace w JOIN executions_tier t ON t.id = w.tier_id
 WHERE e.id = ANY(%(ids)s) AND w.id = e.workspace_id
   AND (e.state IN ('RUNNING', 'PAUSED')) IS TRUE AND e.place <> 'FREE'
RETURNING e.id, e.workspace_id, t.max_concurrent IS NOT NULL AND e.parent_id IS NULL
