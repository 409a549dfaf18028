-- The newest executions that took a canary version's share, counted; by the index of these alone.
--+ counted
  FROM (SELECT id, state, started_at, finished_at
          FROM executions_workflowexecution
         WHERE version_id = %(version)s AND canary
         ORDER BY id DESC
         LIMIT %(most)s) AS newest
