-- Count the newest executions that took a canary version's share of the starts, by the index that
-- has only these executions.
--+ counted
  FROM (SELECT id, state, started_at, finished_at
          FROM executions_workflowexecution
         WHERE version_id = %(version)s AND canary
         ORDER BY id DESC
         LIMIT %(most)s) AS newest
