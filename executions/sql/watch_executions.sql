--! plan each time
-- Return the watched executions that may have changed after a read at the cursor `since`: they were
-- written by a transaction which that read may not have seen (executions/live/feed.py). `age`
-- counts transactions back from now, also across the wraparound of their 32-bit IDs. Without
-- `since`, return all.
SELECT e.id, e.workflow_id, v.number, e.state, e.epoch, e.started_at, e.finished_at, e.created_at,
       e.deadline_at, e.priority, e.place,
       CASE WHEN starts_with(e.error_message, '$sealed:') THEN e.error_message
            ELSE left(e.error_message, 300) END,
       e.compensation, e.ending
  FROM unnest(%(ids)s::uuid[]) AS watched(id)
  JOIN executions_workflowexecution e ON e.id = watched.id
  JOIN executions_workflowversion v ON v.id = e.version_id
 WHERE %(since)s::text IS NULL OR age(e.xmin) <= age(%(since)s::text::xid8::xid)
