--! plan each time
-- Planned for the workflow: for one with few executions, the index of all executions would be read
-- far back.
-- Of a workflow's newest executions since its canary began, those of the latest version, counted.
-- The limit comes before the version, so that a small share of it causes no long search.
--+ counted
  FROM (SELECT id, state, started_at, finished_at, version_id
          FROM executions_workflowexecution
         WHERE workflow_id = %(workflow)s AND created_at >= %(since)s
         ORDER BY created_at DESC, id DESC
         LIMIT %(most)s) AS newest
 WHERE version_id = %(version)s
