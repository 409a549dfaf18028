-- Children that have ended while a run of their parent still waits for them: the message that says
-- so is lost, or on its way for too long. Each row leaves this scan when it is served: its run is
-- woken, and the waiter is gone.
SELECT c.id
  FROM runners_waiter w
  JOIN executions_workflowexecution c ON c.id = w.key::uuid
  JOIN runners_run r ON r.id = w.run_id
  JOIN executions_workflowexecution p ON p.id = w.execution_id
 WHERE w.kind = 'child' AND (r.state = 'WAITING') IS TRUE AND r.epoch = p.epoch
   AND p.state IN ('PAUSED', 'RUNNING')
   AND c.state IN ('CANCELLED', 'FAILED', 'SUCCESS', 'TIMEOUT')
   AND c.finished_at < statement_timestamp() - interval '3 seconds'
 LIMIT %(batch)s
