-- Redrives of dead letters (plugin `redrive`).
SELECT
    -- ID of the redrive
    x.id,
    -- ID of the workspace
    x.workspace_id,
    -- Slug of the workspace
    o.slug AS workspace,
    -- Group of equal failures, if it was started there
    x.group_id,
    -- STEP, FROM or EXECUTION
    x.scope,
    -- DRAFT, RUNNING, PAUSED, STOPPED, DONE, ABORTED
    x.state,
    -- Dead letters
    x.total,
    -- Dead letters sent
    x.sent,
    -- Succeeded
    x.succeeded,
    -- Failed again
    x.failed_again,
    -- Skipped, because they had changed
    x.skipped,
    -- Maximum per second; null without a limit
    x.rate,
    -- When it was created
    x.created_at,
    -- When it was started
    x.started_at,
    -- When it ended
    x.finished_at
FROM dlq_redrive x
LEFT JOIN executions_workspace o ON o.id = x.workspace_id
WHERE x.workspace_id = {allowed}
