-- Executions that hold a place of a limited workspace though everything in them waits.
SELECT e.id
  FROM executions_tier t
  JOIN executions_workspace w ON w.tier_id = t.id
  JOIN executions_workflowexecution e ON e.workspace_id = w.id
 WHERE t.max_concurrent IS NOT NULL AND e.place = 'HELD' AND e.parent_id IS NULL
   AND e.state IN ('RUNNING', 'PAUSED')
   AND EXISTS (SELECT 1 FROM runners_run r
                WHERE r.execution_id = e.id AND r.state = 'WAITING'
                  AND r.waits_for NOT IN ('body', 'child'))
   AND NOT EXISTS (SELECT 1 FROM runners_run r
                    WHERE r.execution_id = e.id
                      AND (r.state IN ('LEASED', 'PENDING', 'RUNNING')
                           OR (r.state = 'WAITING' AND r.waits_for = 'child')))
   AND (%(ids)s::uuid[] IS NULL OR e.id = ANY(%(ids)s::uuid[]))
 LIMIT %(batch)s
