--! plan each time
-- Return the results of finished steps that filters read. `executions` and `paths` are parallel
-- lists.
SELECT d.execution_id, d.step_path, d.state, d.outcome, d.outputs::json, d.error, d.error_type
  FROM (SELECT unnest(%(executions)s::uuid[]) AS execution, unnest(%(paths)s::text[]) AS path) w
  JOIN runners_run d ON d.execution_id = w.execution AND d.step_path = w.path
 WHERE NOT d.superseded
   AND (d.state IN ('SUCCESS', 'SKIPPED') OR (d.state = 'FAILED' AND d.outcome = 'error'))
