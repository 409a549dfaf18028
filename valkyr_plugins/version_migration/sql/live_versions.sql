-- How many live executions each version of a workflow has, the newest version first; of a workflow
-- with very many, of that many of them.
SELECT v.number, live.count
  FROM (SELECT version_id, count(*)
          FROM (SELECT version_id
                  FROM executions_workflowexecution
                 WHERE workspace_id = %(workspace)s AND workflow_id = %(workflow)s
                   AND state IN ('PENDING', 'RUNNING', 'PAUSED') AND finished_at IS NULL
                 LIMIT %(most)s) looked
         GROUP BY version_id) live
  JOIN executions_workflowversion v ON v.id = live.version_id
 WHERE v.kind = 'published'
 ORDER BY v.number DESC
 LIMIT 100
