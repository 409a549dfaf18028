--! plan each time
-- Count the executions of the latest version among a workflow's newest executions since its canary
-- began. The limit applies before the version, so that a small share of the version causes no long
-- search.
-- The statement is planned for each workflow: for one with few executions, a cached plan would read
-- far back in the index of all executions.
--+ counted
  FROM (SELECT id, state, started_at, finished_at, version_id
          FROM executions_workflowexecution
         WHERE workflow_id = %(workflow)s AND created_at >= %(since)s
         ORDER BY created_at DESC, id DESC
         LIMIT %(most)s) AS newest
 WHERE version_id = %(version)s
