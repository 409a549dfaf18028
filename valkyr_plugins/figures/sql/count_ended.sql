-- Count executions by the time slot in which they ended, workflow, state, and bucket of their
-- duration; at most `most` of each time slot.
SELECT s.slot, x.workspace_id, x.workflow_id, x.state, x.bucket, count(*)
  FROM generate_series(0, %(slots)s - 1) AS s (slot)
 CROSS JOIN LATERAL (
       SELECT e.workspace_id, e.workflow_id, e.state, b.bucket
         FROM executions_workflowexecution AS e
        CROSS JOIN LATERAL (
              SELECT extract(epoch FROM e.finished_at - e.started_at)::float8 * 1000 AS ms) AS d
        CROSS JOIN LATERAL (SELECT {bucket} AS bucket) AS b
        WHERE e.finished_at >= %(since)s + s.slot * %(length)s
          AND e.finished_at < %(since)s + (s.slot + 1) * %(length)s
          AND {scope}
        LIMIT %(most)s) AS x
 GROUP BY 1, 2, 3, 4, 5
