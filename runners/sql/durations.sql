-- What nine of ten recent runs of given steps took at most: of the workflow's newest executions,
-- a bounded number of runs each. Results that were reused say nothing of the work.
SELECT r.module_id, r.config_hash,
       percentile_cont(0.9) WITHIN GROUP (ORDER BY r.duration_ms)
  FROM (SELECT id
          FROM executions_workflowexecution
         WHERE workflow_id = %(workflow)s
         ORDER BY created_at DESC, id DESC
         LIMIT 100) e
 CROSS JOIN LATERAL (
       SELECT module_id, config_hash, duration_ms
         FROM runners_run
        WHERE execution_id = e.id AND state = 'SUCCESS' AND cached_from IS NULL
          AND duration_ms IS NOT NULL AND module_id = ANY(%(modules)s)
        LIMIT 100) r
 GROUP BY r.module_id, r.config_hash
