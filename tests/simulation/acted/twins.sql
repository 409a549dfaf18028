-- Runs that started more than one child.
SELECT r.step_path, count(*)
  FROM executions_workflowexecution c JOIN runners_run r ON r.id = c.parent_run_id
 GROUP BY r.id, r.step_path
HAVING count(*) > 1
