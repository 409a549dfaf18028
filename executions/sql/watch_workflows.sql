--! plan each time
-- Return those of the newest executions of each watched workflow that may have changed after a read
-- at the cursor `since` (executions/live/feed.py). Without `since`, return all. `BETWEEN`, and not
-- `=`, makes the planner use the workflow's own index: the index of all executions has the same
-- order.
SELECT e.id, e.workflow_id, v.number, e.state, e.epoch, e.started_at, e.finished_at, e.created_at,
       e.deadline_at, e.priority, e.place,
       CASE WHEN starts_with(e.error_message, '$sealed:') THEN e.error_message
            ELSE left(e.error_message, 300) END,
       e.compensation, e.ending
  FROM unnest(%(ids)s::uuid[]) AS watched(id)
 CROSS JOIN LATERAL (
       SELECT x.*, x.xmin AS written
         FROM executions_workflowexecution x
        WHERE x.workflow_id BETWEEN watched.id AND watched.id
        ORDER BY x.workflow_id DESC, x.created_at DESC, x.id DESC
        LIMIT %(newest)s
       ) e
  JOIN executions_workflowversion v ON v.id = e.version_id
 WHERE %(since)s::text IS NULL OR age(e.written) <= age(%(since)s::text::xid8::xid)
 ORDER BY e.created_at, e.id
