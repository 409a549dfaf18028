-- Return waiting runs whose timer is due. This takes no lock: the statement that wakes them checks
-- them again. Runs of ended executions are not returned; the end of an execution ends its runs.
WITH due AS MATERIALIZED (
    SELECT id, execution_id, due_at
      FROM runners_run
     WHERE finished_at IS NULL AND state = 'WAITING' AND due_at <= statement_timestamp()
     ORDER BY due_at
     LIMIT %(batch)s
)
SELECT d.id, d.execution_id
  FROM due d
 CROSS JOIN LATERAL (
    -- `OFFSET 0` keeps one lookup for each row.
    SELECT e.state FROM executions_workflowexecution e WHERE e.id = d.execution_id OFFSET 0) e
 WHERE e.state IN ('PAUSED', 'RUNNING')
 ORDER BY d.due_at
