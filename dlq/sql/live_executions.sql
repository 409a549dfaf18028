-- How many executions live, by state and workspace: of each state at most so many are counted.
SELECT state, workspace_id, count(*)
  FROM ((SELECT state, workspace_id FROM executions_workflowexecution
          WHERE state = 'PENDING' LIMIT %(most)s)
        UNION ALL
        (SELECT state, workspace_id FROM executions_workflowexecution
          WHERE state = 'RUNNING' LIMIT %(most)s)
        UNION ALL
        (SELECT state, workspace_id FROM executions_workflowexecution
          WHERE state = 'PAUSED' LIMIT %(most)s)) AS counted
 GROUP BY state, workspace_id
