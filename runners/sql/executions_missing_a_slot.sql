-- Return executions that released their slot, but have a pending run that is due.
SELECT DISTINCT e.id
  FROM (SELECT execution_id
          FROM runners_run
         WHERE finished_at IS NULL AND state = 'PENDING' AND due_at <= statement_timestamp()
         ORDER BY due_at
         LIMIT 10000) r
 CROSS JOIN LATERAL (
    -- `OFFSET 0` keeps one lookup for each row.
    SELECT e.id, e.place, e.state
      FROM executions_workflowexecution e WHERE e.id = r.execution_id OFFSET 0) e
 WHERE e.place = 'FREE' AND e.state IN ('RUNNING', 'PAUSED')
 LIMIT %(batch)s
