-- Return children that have ended while a run of their parent still waits for them: the message
-- about the end was lost, or has been under way for too long. Once a child is handled, it is not
-- returned again: its parent's run is woken, and the waiter is deleted.
SELECT c.id
  FROM (SELECT run_id, execution_id, key::uuid AS child
          FROM runners_waiter WHERE kind = 'child' OFFSET 0) w
 CROSS JOIN LATERAL (
    -- `OFFSET 0` keeps one lookup for each row.
    SELECT id, state, finished_at
      FROM executions_workflowexecution WHERE id = w.child OFFSET 0) c
 CROSS JOIN LATERAL (
    SELECT state, epoch
      FROM runners_run WHERE id = w.run_id
       AND (execution_id = w.execution_id OR execution_id BETWEEN w.execution_id AND w.execution_id) OFFSET 0) r
 CROSS JOIN LATERAL (
    SELECT state, epoch FROM executions_workflowexecution WHERE id = w.execution_id OFFSET 0) p
 WHERE r.state = 'WAITING' AND r.epoch = p.epoch AND p.state IN ('PAUSED', 'RUNNING')
   AND c.state IN ('CANCELLED', 'FAILED', 'SUCCESS', 'TIMEOUT')
   AND c.finished_at < statement_timestamp() - interval '3 seconds'
 LIMIT %(batch)s
