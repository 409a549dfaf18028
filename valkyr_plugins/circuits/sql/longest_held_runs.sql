-- Return the runs that have been held longest for a target, of RUNNING executions.
SELECT w.run_id, w.execution_id
  FROM runners_waiter w
  JOIN executions_workflowexecution e ON e.id = w.execution_id
 WHERE w.kind = 'circuit' AND w.key = %(target)s AND w.workspace_id = %(workspace)s
   AND e.state = 'RUNNING'
 ORDER BY w.run_id
 LIMIT %(most)s
