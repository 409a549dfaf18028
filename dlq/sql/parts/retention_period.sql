-- Join the most specific retention period of an execution `e`: that of its workflow, of its
-- workspace, or of the installation.
LEFT JOIN (SELECT d.* FROM unnest(%(term_states)s::text[], %(term_workspaces)s::uuid[],
                                  %(term_workflows)s::uuid[], %(term_days)s::float8[])
                           AS d (state, workspace_id, workflow_id, days)) tf
       ON tf.state = e.state AND tf.workflow_id = e.workflow_id
LEFT JOIN (SELECT d.* FROM unnest(%(term_states)s::text[], %(term_workspaces)s::uuid[],
                                  %(term_workflows)s::uuid[], %(term_days)s::float8[])
                           AS d (state, workspace_id, workflow_id, days)) ts
       ON ts.state = e.state AND ts.workspace_id = e.workspace_id AND ts.workflow_id IS NULL
LEFT JOIN (SELECT d.* FROM unnest(%(term_states)s::text[], %(term_workspaces)s::uuid[],
                                  %(term_workflows)s::uuid[], %(term_days)s::float8[])
                           AS d (state, workspace_id, workflow_id, days)) ta
       ON ta.state = e.state AND ta.workspace_id IS NULL AND ta.workflow_id IS NULL
CROSS JOIN LATERAL (SELECT coalesce(tf.days, ts.days, ta.days) AS days) t
