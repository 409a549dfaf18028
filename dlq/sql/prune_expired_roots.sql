-- Return the next finished executions in the order of their ends, and whether each is a root whose
-- retention period has ended. The most specific retention period applies. Without one, or with 0
-- days, the execution is kept indefinitely.
WITH walked AS MATERIALIZED (
     SELECT e.id, e.finished_at, e.state, e.workspace_id, e.workflow_id,
            e.parent_id IS NULL AND e.failure_of_id IS NULL AS root
       FROM executions_workflowexecution e
      WHERE e.finished_at < %(before)s
        AND e.finished_at >= %(at)s
        AND (e.finished_at, e.id) > (%(at)s, %(id)s)
      ORDER BY e.finished_at, e.id
      LIMIT %(chunk)s)
SELECT e.id, e.finished_at,
       e.root
       AND (%(workspace)s::uuid IS NULL OR e.workspace_id = %(workspace)s::uuid)
       AND (%(workflow)s::uuid IS NULL OR e.workflow_id = %(workflow)s::uuid)
       AND (%(states)s::text[] IS NULL OR e.state = ANY(%(states)s::text[]))
       AND coalesce(t.days > 0 AND e.finished_at < %(now)s - t.days * interval '1 day', false)
  FROM walked e
--+ retention_period
 ORDER BY e.finished_at, e.id
