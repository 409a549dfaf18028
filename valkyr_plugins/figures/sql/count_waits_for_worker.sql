-- Count attempts by how long they waited for a worker, since they were queued or since their retry
-- was due. Of the newest `sample` executions that were created in each time slot, `each` attempts
-- are read.
SELECT s.slot, x.workspace_id, x.workflow_id, x.bucket, count(*)
  FROM generate_series(0, %(slots)s - 1) AS s (slot)
 CROSS JOIN LATERAL (
       SELECT e.id, e.workspace_id, e.workflow_id
         FROM executions_workflowexecution AS e
        WHERE e.created_at >= %(since)s + s.slot * %(length)s
          AND e.created_at < %(since)s + (s.slot + 1) * %(length)s
          AND {scope}
        ORDER BY e.created_at DESC, e.id DESC
        LIMIT %(sample)s) AS e
 CROSS JOIN LATERAL (
       SELECT e.workspace_id, e.workflow_id, {bucket} AS bucket
         FROM (SELECT extract(
                      epoch FROM r.started_at - greatest(r.queued_at, r.retry_after))::float8
                      * 1000 AS ms
                 FROM runners_run AS r
                WHERE r.execution_id = e.id
                  AND r.started_at IS NOT NULL
                  AND r.state <> 'SKIPPED'
                LIMIT %(each)s) AS d) AS x
 GROUP BY 1, 2, 3, 4
