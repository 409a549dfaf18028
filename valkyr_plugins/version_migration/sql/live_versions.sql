-- Count the live executions of each published version of a workflow, the newest version first. If
-- there are very many, only `most` of them are counted.
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
