-- The workspaces that the role can read.
SELECT
    -- ID of the workspace
    o.id,
    -- Slug, as in the API
    o.slug,
    -- Name
    o.name,
    -- When it was created
    o.created_at,
    -- When it was archived; null if it is in use
    o.archived_at
FROM executions_workspace o
WHERE o.id = {allowed}
