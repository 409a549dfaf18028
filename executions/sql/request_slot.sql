--! plan each time
-- Request slots for executions that wake: WANTED for roots in a workspace whose slots are limited,
-- otherwise HELD at once. `lock_waking_executions` has locked the rows, so `place` is current.
-- Nothing is joined here: with outdated statistics, the planner expects one row instead of
-- thousands, and would read the whole table for each.
UPDATE executions_workflowexecution e
   SET place = CASE WHEN e.parent_id IS NULL AND (
           SELECT t.max_concurrent FROM executions_workspace w
             JOIN executions_tier t ON t.id = w.tier_id
            WHERE w.id = e.workspace_id
       ) IS NOT NULL THEN 'WANTED' ELSE 'HELD' END
 WHERE e.id = ANY(%(ids)s) AND e.place = 'FREE'
RETURNING e.workspace_id, e.place
