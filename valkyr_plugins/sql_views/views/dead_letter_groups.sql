-- Groups of equal failures. Merged groups are left out.
SELECT
    -- ID of the group
    g.id,
    -- ID of the workspace
    g.workspace_id,
    -- Slug of the workspace
    o.slug AS workspace,
    -- ID of the workflow
    g.workflow_id,
    -- Slug of the workflow
    w.slug AS workflow,
    -- Path of the step, without iterations
    g.place AS step,
    -- Type of the step
    g.module,
    -- Class of the exception
    g.exception,
    -- Status, such as NEW, RESOLVED, REGRESSED
    g.status,
    -- When the status last changed
    g.status_at,
    -- Whether it raises no alerts
    g.muted,
    -- Version that fixes the failure
    g.resolved_in,
    -- Dead letters ever, some seconds late
    g.total,
    -- Open dead letters, some seconds late
    g.open,
    -- First failure
    g.first_seen,
    -- Latest failure
    g.last_seen
FROM dlq_failuregroup g
LEFT JOIN executions_workspace o ON o.id = g.workspace_id
LEFT JOIN executions_workflow w ON w.id = g.workflow_id
WHERE g.merged_into_id IS NULL
  AND g.workspace_id = {allowed}
