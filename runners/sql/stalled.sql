-- Executions under way and awake with nothing that moves (a container only holds what does).
-- Whatever is planned for them leaves this scan: it gets a live run, or ends.
SELECT e.id
  FROM executions_workflowexecution e
 WHERE e.state = 'RUNNING' AND e.place = 'HELD'
   AND e.started_at < statement_timestamp() - interval '5 seconds'
   AND NOT EXISTS (
       SELECT 1 FROM runners_run r
        WHERE r.execution_id = e.id
          AND r.state IN ('LEASED', 'PENDING', 'RUNNING', 'WAITING')
          AND (r.state <> 'WAITING' OR r.waits_for <> 'body'))
 LIMIT %(batch)s
