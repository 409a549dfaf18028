-- Return executions whose undo can begin, because nothing of them runs: no step that may have to be
-- undone too, and no child for which a step waited.
SELECT e.id
  FROM executions_workflowexecution e
 WHERE e.compensation = 'WAITING' AND e.state IN ('PAUSED', 'RUNNING')
   AND (%(execution)s::uuid IS NULL OR e.id = %(execution)s)
   AND NOT EXISTS (
       SELECT 1 FROM runners_run r
        WHERE r.execution_id = e.id AND r.state IN ('LEASED', 'RUNNING')
          AND r.lease_until > clock_timestamp()
       OFFSET 0)
   AND NOT EXISTS (
       SELECT 1 FROM executions_workflowexecution c
        WHERE c.parent_id = e.id AND c.parent_run_id IS NOT NULL
          AND c.finished_at IS NULL
       OFFSET 0)
 ORDER BY e.id
 LIMIT %(batch)s
