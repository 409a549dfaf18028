--! plan each time
-- Return executions that hold a slot of a limited workspace although all their runs wait. An
-- execution with a run that waits for a child keeps its slot. `OFFSET 0` keeps one lookup for each
-- row, and `ORDER BY` makes the planner use the index that has this order.
SELECT e.id
  FROM (SELECT w.id
          FROM executions_tier t JOIN executions_workspace w ON w.tier_id = t.id
         WHERE t.max_concurrent IS NOT NULL OFFSET 0) w
 CROSS JOIN LATERAL (
       (SELECT id, parent_id
          FROM executions_workflowexecution
         WHERE finished_at IS NULL AND state = 'RUNNING' AND place = 'HELD' AND workspace_id = w.id
         ORDER BY id OFFSET 0)
        UNION ALL
       (SELECT id, parent_id
          FROM executions_workflowexecution
         WHERE finished_at IS NULL AND state = 'PAUSED' AND place = 'HELD' AND workspace_id = w.id
         ORDER BY id OFFSET 0)
    ) e
 WHERE e.parent_id IS NULL
   AND (%(ids)s::uuid[] IS NULL OR e.id = ANY(%(ids)s::uuid[]))
   AND EXISTS (SELECT 1 FROM runners_run r
                WHERE r.execution_id = e.id AND r.state = 'WAITING'
                  AND r.waits_for NOT IN ('body', 'child') OFFSET 0)
   AND NOT EXISTS (SELECT 1 FROM runners_run r
                    WHERE r.execution_id = e.id
                      AND r.state IN ('LEASED', 'PENDING', 'RUNNING', 'WAITING')
                      AND (r.state <> 'WAITING' OR r.waits_for = 'child') OFFSET 0)
 LIMIT %(batch)s
