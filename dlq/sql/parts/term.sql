-- The most specific term of an execution `e`.
LEFT JOIN LATERAL (
     SELECT d.days
       FROM unnest(%(term_states)s::text[], %(term_workspaces)s::uuid[],
                   %(term_workflows)s::uuid[], %(term_days)s::float8[])
            AS d (state, workspace_id, workflow_id, days)
      WHERE d.state = e.state
        AND (d.workspace_id IS NULL OR d.workspace_id = e.workspace_id)
        AND (d.workflow_id IS NULL OR d.workflow_id = e.workflow_id)
      ORDER BY d.workflow_id IS NULL, d.workspace_id IS NULL
      LIMIT 1) t ON true
