-- Attempts of steps, one row each. Give a range of execution_created_at, or execution_id.
SELECT
    -- ID of the attempt
    r.id,
    -- ID of the execution
    r.execution_id,
    -- ID of the workspace
    e.workspace_id,
    -- Slug of the workspace
    o.slug AS workspace,
    -- ID of the workflow
    e.workflow_id,
    -- Slug of the workflow
    w.slug AS workflow,
    -- When the execution was accepted
    e.created_at AS execution_created_at,
    -- Path of the step, with iterations
    r.step_path AS step,
    -- Type of the step, such as http.request
    r.module,
    -- Number of the attempt, from 1
    r.attempt,
    -- PENDING, LEASED, RUNNING, WAITING, SUCCESS, FAILED, DLQ, CANCELLED, SKIPPED
    r.state,
    -- Connection that the step chose
    r.outcome,
    -- Class of the error, empty without one
    r.error_type,
    -- Whether a roll-back replaced it
    r.superseded,
    -- Queue of the workers
    r.queue,
    -- What it waits or waited for, such as approval
    r.waits_for,
    -- How often it was taken from a lost worker
    r.recoveries,
    -- When it could first run
    r.queued_at,
    -- When a worker started it
    r.started_at,
    -- When it ended; null while it is live
    r.finished_at,
    -- Duration of the attempt, in milliseconds
    r.duration_ms,
    -- Tokens of language models
    r.cost_tokens,
    -- Costs, in the installation's currency
    r.cost_amount
FROM runners_run r
JOIN executions_workflowexecution e ON e.id = r.execution_id
LEFT JOIN executions_workspace o ON o.id = e.workspace_id
LEFT JOIN executions_workflow w ON w.id = e.workflow_id
WHERE e.workspace_id = {allowed}
