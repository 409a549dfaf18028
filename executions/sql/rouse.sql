-- Executions that wake want a place again; where places are not counted (any more) they have one.
-- Those awake are locked too: one that is just falling asleep, because everything in it waits as
-- far as it can see, must see that something woke, or we that it sleeps. Locked in the order of
-- their ids, so that two that wake the same ones never wait in a circle; `place` is as it is then.
WITH counted AS MATERIALIZED (
    SELECT e.id, e.place, t.max_concurrent IS NOT NULL AND e.parent_id IS NULL AS limited
      FROM executions_workflowexecution e
      JOIN executions_workspace w ON w.id = e.workspace_id
      JOIN executions_tier t ON t.id = w.tier_id
     WHERE e.id = ANY(%(ids)s)
     ORDER BY e.id
       FOR NO KEY UPDATE OF e
)
UPDATE executions_workflowexecution e
   SET place = CASE WHEN c.limited THEN 'WANTED' ELSE 'HELD' END
  FROM counted c
 WHERE e.id = c.id AND c.place = 'FREE'
RETURNING e.workspace_id, e.place
