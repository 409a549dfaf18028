-- Versions of workflows.
SELECT
    -- ID of the version
    v.id,
    -- ID of the workspace
    w.workspace_id,
    -- Slug of the workspace
    o.slug AS workspace,
    -- ID of the workflow
    v.workflow_id,
    -- Slug of the workflow
    w.slug AS workflow,
    -- Number, from 1
    v.number,
    -- published, or test for a test run of a draft
    v.kind,
    -- SHA-256 of the definition
    v.checksum,
    -- When it was published
    v.created_at,
    -- When it was rolled back, or its canary stopped
    v.withdrawn_at
FROM executions_workflowversion v
JOIN executions_workflow w ON w.id = v.workflow_id
LEFT JOIN executions_workspace o ON o.id = w.workspace_id
WHERE w.workspace_id = {allowed}
