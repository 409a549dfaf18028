-- Count the live executions by state and workspace. At most `most` executions of each state are
-- counted.
SELECT state, workspace_id, count(*)
  FROM ((SELECT state, workspace_id FROM executions_workflowexecution
          WHERE state = 'PENDING' AND finished_at IS NULL LIMIT %(most)s)
        UNION ALL
        (SELECT state, workspace_id FROM executions_workflowexecution
          WHERE state = 'RUNNING' AND finished_at IS NULL LIMIT %(most)s)
        UNION ALL
        (SELECT state, workspace_id FROM executions_workflowexecution
          WHERE state = 'PAUSED' AND finished_at IS NULL LIMIT %(most)s)) AS counted
 GROUP BY state, workspace_id
