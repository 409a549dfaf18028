--! plan each time
-- Of the newest executions of each watched workflow, those that a reader at `since` may not have
-- seen as they are (executions/live/feed.py). Without `since`: all of them. BETWEEN, and not `=`,
-- keeps the planner on the workflow's own list, whose order is that of all executions' too.
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
