-- Count executions by the time slot in which they were created, and workflow; at most `most` of
-- each time slot.
SELECT s.slot, x.workspace_id, x.workflow_id, count(*)
  FROM generate_series(0, %(slots)s - 1) AS s (slot)
 CROSS JOIN LATERAL (
       SELECT e.workspace_id, e.workflow_id
         FROM executions_workflowexecution AS e
        WHERE e.created_at >= %(since)s + s.slot * %(length)s
          AND e.created_at < %(since)s + (s.slot + 1) * %(length)s
          AND {scope}
        LIMIT %(most)s) AS x
 GROUP BY 1, 2, 3
