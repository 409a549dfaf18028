-- Workflows, also archived ones.
SELECT
    -- ID of the workflow
    w.id,
    -- ID of the workspace
    w.workspace_id,
    -- Slug of the workspace
    o.slug AS workspace,
    -- Slug, unique among the workflows in use
    w.slug,
    -- Name
    w.name,
    -- Whether triggers start it
    w.enabled,
    -- Number of the latest version; null before the first
    v.number AS latest_version,
    -- Number of the canary version; null without one
    c.number AS canary_version,
    -- Share of the starts of the canary, in per cent
    w.canary_percent,
    -- When it was created
    w.created_at,
    -- When its draft was last changed
    w.updated_at,
    -- When it was archived; null if it is in use
    w.archived_at
FROM executions_workflow w
LEFT JOIN executions_workspace o ON o.id = w.workspace_id
LEFT JOIN executions_workflowversion v ON v.id = w.latest_version_id
LEFT JOIN executions_workflowversion c ON c.id = w.canary_version_id
WHERE w.workspace_id = {allowed}
