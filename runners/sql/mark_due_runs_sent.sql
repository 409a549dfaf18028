-- Return pending runs that are due and were not sent: retries, and runs whose message could not be
-- sent. They are marked as sent, so that the next pass, a second later, does not find them again.
-- Runs of a paused execution are sent too, but cannot be claimed before it is resumed.
WITH due AS (
    SELECT r.id, r.execution_id
      FROM runners_run r
     WHERE r.state = 'PENDING' AND r.due_at <= statement_timestamp() AND r.published_at IS NULL
     ORDER BY r.due_at
     LIMIT %(batch)s
       FOR UPDATE SKIP LOCKED
)
UPDATE runners_run r
   SET published_at = clock_timestamp(), publications = r.publications + 1,
       due_at = clock_timestamp() + %(patience)s * interval '1 second'
  FROM due d JOIN executions_workflowexecution e ON e.id = d.execution_id
 WHERE r.id = d.id
   AND (r.execution_id = d.execution_id OR r.execution_id BETWEEN d.execution_id AND d.execution_id)
RETURNING r.execution_id, e.version_id, r.priority, r.segment, r.queue, r.step_path
