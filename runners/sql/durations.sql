-- What nine of ten recent runs of given steps took at most: of the workflow's newest executions,
-- a bounded number of runs each. Results that were reused say nothing of the work.
-- BETWEEN, and not `=`, keeps the planner on the workflow's own list: that of all executions has the
-- same order, and would be read to its end for a workflow that has not run for long.
SELECT r.module_id, r.config_hash,
       percentile_cont(0.9) WITHIN GROUP (ORDER BY r.duration_ms)
  FROM (SELECT id
          FROM executions_workflowexecution
         WHERE workflow_id BETWEEN %(workflow)s AND %(workflow)s
         ORDER BY workflow_id DESC, created_at DESC, id DESC
         LIMIT 100) e
 CROSS JOIN LATERAL (
       SELECT module_id, config_hash, duration_ms
         FROM runners_run
        WHERE execution_id = e.id AND state = 'SUCCESS' AND cached_from IS NULL
          AND duration_ms IS NOT NULL AND module_id = ANY(%(modules)s)
        LIMIT 100) r
 GROUP BY r.module_id, r.config_hash
