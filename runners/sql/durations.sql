-- Return the 90th percentile of the durations of recent runs of the given steps. Of each of the
-- workflow's 100 newest executions, at most 100 runs are read. Runs with a reused result are
-- excluded, because their durations say nothing about the work.
-- `BETWEEN`, and not `=`, makes the planner use the workflow's own index. The index of all
-- executions has the same order, and would be read to its end for a workflow that has not run
-- recently.
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
