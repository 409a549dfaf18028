-- Schedules of workflows, also retired ones.
SELECT
    -- ID of the trigger, as in executions.trigger_id
    t.id,
    -- ID of the workspace
    w.workspace_id,
    -- Slug of the workspace
    o.slug AS workspace,
    -- ID of the workflow
    t.workflow_id,
    -- Slug of the workflow
    w.slug AS workflow,
    -- Cron expression or interval
    t.settings ->> 'schedule' AS schedule,
    -- Time zone
    t.settings ->> 'timezone' AS timezone,
    -- Whether it starts executions
    t.enabled,
    -- End of its pause; null if it was never paused
    t.paused_until,
    -- Next fire time
    t.next_at,
    -- When a version first had it
    t.created_at,
    -- When the latest version removed it
    t.retired_at
FROM executions_trigger t
JOIN executions_workflow w ON w.id = t.workflow_id
LEFT JOIN executions_workspace o ON o.id = w.workspace_id
WHERE t.type = 'CRON'
  AND w.workspace_id = {allowed}
