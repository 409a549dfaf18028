-- Executions under way and awake with nothing that moves (a container only holds what does). OFFSET
-- keeps it a look-up for each row. Whatever is planned for them leaves this scan: it gets a live
-- run, or ends.
SELECT e.id
  FROM (SELECT id, started_at
          FROM executions_workflowexecution
         WHERE finished_at IS NULL AND state = 'RUNNING' AND place = 'HELD'
         ORDER BY workspace_id, id
        OFFSET 0) e
 WHERE e.started_at < statement_timestamp() - interval '5 seconds'
   AND NOT EXISTS (
       SELECT 1 FROM runners_run r
        WHERE r.execution_id = e.id
          AND r.state IN ('LEASED', 'PENDING', 'RUNNING', 'WAITING')
          AND (r.state <> 'WAITING' OR r.waits_for <> 'body')
       OFFSET 0)
 LIMIT %(batch)s
