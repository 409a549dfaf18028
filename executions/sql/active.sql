--! plan each time
-- How many root executions of a workspace hold a place. ORDER BY keeps the planner on the index that
-- has this order: an estimate made while few were over would have it read all of the workspace.
SELECT count(*)
  FROM ((SELECT parent_id
           FROM executions_workflowexecution
          WHERE finished_at IS NULL AND state = 'RUNNING' AND place = 'HELD'
            AND workspace_id = %(workspace)s
          ORDER BY id OFFSET 0)
        UNION ALL
        (SELECT parent_id
           FROM executions_workflowexecution
          WHERE finished_at IS NULL AND state = 'PAUSED' AND place = 'HELD'
            AND workspace_id = %(workspace)s
          ORDER BY id OFFSET 0)) held
 WHERE parent_id IS NULL
