-- Return runs that hold a lease, or that are live although their execution has ended.
SELECT r.step_path, r.state, r.leased_by FROM runners_run r
  JOIN executions_workflowexecution e ON e.id = r.execution_id
 WHERE r.state = 'RUNNING'
    OR e.state IN ('SUCCESS', 'CANCELLED', 'TIMEOUT') AND r.state IN ('PENDING', 'WAITING')
