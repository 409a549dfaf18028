-- Return ended executions that have live runs which are due. Each run that is read costs one lookup
-- of its execution by the primary key, whatever the planner estimates. Beside a backlog, whose runs
-- are all due, it knew of no ended executions, and compared each run with thousands of them, for
-- 17 s.
WITH due AS MATERIALIZED (
    SELECT execution_id
      FROM runners_run
     WHERE finished_at IS NULL AND state IN ('LEASED', 'PENDING', 'RUNNING', 'WAITING')
       AND due_at <= statement_timestamp()
     LIMIT 10000
)
SELECT DISTINCT d.execution_id
  FROM due d
 CROSS JOIN LATERAL (
    -- `OFFSET 0` keeps one lookup for each row.
    SELECT e.state FROM executions_workflowexecution e WHERE e.id = d.execution_id OFFSET 0) e
 WHERE e.state IN ('CANCELLED', 'FAILED', 'SUCCESS', 'TIMEOUT')
 LIMIT %(batch)s
