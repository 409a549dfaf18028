-- The next finished executions in the order of their ends; and whether each is a root whose time is
-- over. The most specific term speaks; without one, or with 0 days, it is kept for ever.
WITH walked AS MATERIALIZED (
     SELECT e.id, e.finished_at, e.state, e.workspace_id, e.workflow_id,
            e.parent_id IS NULL AND e.failure_of_id IS NULL AS root
       FROM executions_workflowexecution e
      WHERE e.finished_at < %(before)s
        AND e.finished_at >= %(at)s
        AND (e.finished_at, e.id) > (%(at)s, %(id)s)
      ORDER BY e.finished_at, e.id
      LIMIT %(chunk)s)
SELECT w.id, w.finished_at,
       w.root
       AND (%(workspace)s::uuid IS NULL OR w.workspace_id = %(workspace)s::uuid)
       AND (%(workflow)s::uuid IS NULL OR w.workflow_id = %(workflow)s::uuid)
       AND (%(states)s::text[] IS NULL OR w.state = ANY(%(states)s::text[]))
       AND coalesce(t.days > 0 AND w.finished_at < %(now)s - t.days * interval '1 day', false)
  FROM walked w
  LEFT JOIN LATERAL (
       SELECT d.days
         FROM unnest(%(term_states)s::text[], %(term_workspaces)s::uuid[],
                     %(term_workflows)s::uuid[], %(term_days)s::float8[])
              AS d (state, workspace_id, workflow_id, days)
        WHERE d.state = w.state
          AND (d.workspace_id IS NULL OR d.workspace_id = w.workspace_id)
          AND (d.workflow_id IS NULL OR d.workflow_id = w.workflow_id)
        ORDER BY d.workflow_id IS NULL, d.workspace_id IS NULL
        LIMIT 1) t ON true
 ORDER BY w.finished_at, w.id
