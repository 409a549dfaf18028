-- Executions, one row each. Give a range of created_at.
SELECT
    -- ID of the execution
    e.id,
    -- ID of the workspace
    e.workspace_id,
    -- Slug of the workspace
    o.slug AS workspace,
    -- ID of the workflow
    e.workflow_id,
    -- Slug of the workflow
    w.slug AS workflow,
    -- ID of the version
    e.version_id,
    -- Number of the version
    v.number AS version,
    -- Whether it took the canary version's share of the starts
    e.canary,
    -- PENDING, RUNNING, PAUSED, SUCCESS, FAILED, CANCELLED, TIMEOUT
    e.state,
    -- MANUAL, CRON, EVENT, WEBHOOK, QUEUE
    e.trigger_type,
    -- ID of the trigger; null for manual starts
    e.trigger_id,
    -- Execution that started it as a sub-workflow
    e.parent_id,
    -- Failed execution that it handles
    e.failure_of_id,
    -- Execution that it replays or was forked from
    e.origin_id,
    -- From 0 (last) to 9 (first)
    e.priority,
    -- Progress of the undo steps; empty without any
    e.compensation,
    -- ID of the OpenTelemetry trace
    e.trace_id,
    -- Labels, as an object of texts: labels ->> 'order'; null without any
    e.labels,
    -- When it was accepted
    e.created_at,
    -- When its first step could start
    e.started_at,
    -- When it ended; null while it is live
    e.finished_at,
    -- When it times out
    e.deadline_at,
    -- From the start to the end, in seconds; null while it is live
    EXTRACT(EPOCH FROM e.finished_at - e.started_at)::double precision AS duration_seconds
FROM executions_workflowexecution e
LEFT JOIN executions_workspace o ON o.id = e.workspace_id
LEFT JOIN executions_workflow w ON w.id = e.workflow_id
LEFT JOIN executions_workflowversion v ON v.id = e.version_id
WHERE e.workspace_id = {allowed}
