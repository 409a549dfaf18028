--! plan each time
-- Executions that wake want a place again; where places are not counted (any more) they have one.
-- `lock_awake` locked them before, so `place` is as it is now. Nothing is joined here: while the
-- statistics lag the planner takes thousands for one row, and would look through the whole table
-- for each.
UPDATE executions_workflowexecution e
   SET place = CASE WHEN e.parent_id IS NULL AND (
           SELECT t.max_concurrent FROM executions_workspace w
             JOIN executions_tier t ON t.id = w.tier_id
            WHERE w.id = e.workspace_id
       ) IS NOT NULL THEN 'WANTED' ELSE 'HELD' END
 WHERE e.id = ANY(%(ids)s) AND e.place = 'FREE'
RETURNING e.workspace_id, e.place
