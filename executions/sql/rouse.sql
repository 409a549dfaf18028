-- Executions that wake want a place again; where places are not counted (any more) they have one.
-- Those awake are locked too: one that is just falling asleep, because everything in it waits as
-- far as it can see, must see that something woke, or we that it sleeps. Locked in the order of
-- their ids, so that two that wake the same ones never wait in a circle; `place` is as it is then.
-- The second look at them is by an array, not a join: whatever PostgreSQL takes the tables' sizes for,
-- ten thousand never cost ten thousand times ten thousand.
WITH locked AS MATERIALIZED (
    SELECT e.id, e.place
      FROM executions_workflowexecution e
     WHERE e.id = ANY(%(ids)s)
     ORDER BY e.id
       FOR NO KEY UPDATE OF e
)
UPDATE executions_workflowexecution e
   SET place = CASE WHEN t.max_concurrent IS NOT NULL AND e.parent_id IS NULL
                    THEN 'WANTED' ELSE 'HELD' END
  FROM executions_workspace w
  JOIN executions_tier t ON t.id = w.tier_id
 WHERE e.id = ANY(ARRAY(SELECT id FROM locked WHERE place = 'FREE')) AND w.id = e.workspace_id
RETURNING e.workspace_id, e.place
