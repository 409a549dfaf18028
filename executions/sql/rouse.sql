-- Executions that wake want a place again; where places are not counted (any more) they have one.
-- Locked in the order of their ids, so that two that wake the same ones never wait in a circle.
WITH asleep AS MATERIALIZED (
    SELECT id
      FROM executions_workflowexecution
     WHERE id = ANY(%(ids)s) AND place = 'FREE'
     ORDER BY id
       FOR NO KEY UPDATE
)
UPDATE executions_workflowexecution e
   SET place = CASE WHEN t.max_concurrent IS NULL THEN 'HELD' ELSE 'WANTED' END
  FROM asleep a, executions_workspace w JOIN executions_tier t ON t.id = w.tier_id
 WHERE e.id = a.id AND w.id = e.workspace_id
RETURNING e.workspace_id, e.place
