-- Return a batch of the runs that have waited for an event of this name since before it came, in
-- the order of their IDs.
SELECT w.run_id, w.execution_id, e.version_id, r.step_path, r.attempt
  FROM runners_waiter w
  JOIN runners_run r ON r.id = w.run_id
    AND (r.execution_id = w.execution_id OR r.execution_id BETWEEN w.execution_id AND w.execution_id)
  JOIN executions_workflowexecution e ON e.id = w.execution_id
 WHERE w.kind = 'event' AND w.key = %(name)s AND w.workspace_id = %(workspace)s
   AND w.run_id > %(after)s
   AND w.created_at < %(before)s
 ORDER BY w.run_id
 LIMIT %(batch)s
