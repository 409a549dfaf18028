-- Return a batch of the runs of one execution that wait for an event of this name, in the order of
-- their IDs. `before` limits them to those that began to wait before the event came. An execution
-- has few waiters, but a name may have many. The planner does not know this, so the CTE makes it
-- read the execution's waiters first.
WITH own AS MATERIALIZED (
    SELECT run_id, execution_id, kind, key, workspace_id, created_at
      FROM runners_waiter
     WHERE execution_id = %(execution)s
)
SELECT w.run_id, e.id, e.version_id, r.step_path, r.attempt
  FROM own w
  JOIN runners_run r ON r.id = w.run_id
    AND (r.execution_id = w.execution_id OR r.execution_id BETWEEN w.execution_id AND w.execution_id)
  JOIN executions_workflowexecution e ON e.id = %(execution)s
 WHERE w.kind = 'event' AND w.key = %(name)s AND w.workspace_id = %(workspace)s
   AND w.run_id > %(after)s
   AND (%(before)s::timestamptz IS NULL OR w.created_at < %(before)s)
 ORDER BY w.run_id
 LIMIT %(batch)s
