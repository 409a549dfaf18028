--! plan each time
-- Count the root executions of a workspace that hold a slot. `ORDER BY` makes the planner use the
-- index that has this order. With an estimate from a time when few executions had ended, it would
-- read all executions of the workspace.
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
