-- Permanently failed steps. Give resolution and a range of quarantined_at.
SELECT
    -- ID of the dead letter
    d.id,
    -- ID of the workspace
    d.workspace_id,
    -- Slug of the workspace
    o.slug AS workspace,
    -- ID of the workflow
    d.workflow_id,
    -- Slug of the workflow
    w.slug AS workflow,
    -- ID of the execution
    d.execution_id,
    -- ID of the failed attempt, as in steps
    d.run_id AS step_id,
    -- Group of equal failures
    d.group_id,
    -- Number of the version that ran
    d.version_number AS version,
    -- Path of the step, with iterations
    d.step_path AS step,
    -- Type of the step
    d.module,
    -- MAX_RETRIES, PERMANENT_ERROR, CIRCUIT_BREAKER, MANUAL
    d.failure_type,
    -- Class of the error
    d.error_type,
    -- Class of the exception
    d.exception,
    -- HTTP status that the step received
    d.http_status,
    -- System that the step called, such as a host
    d.target,
    -- Number of attempts
    d.attempts,
    -- How often the step was requeued before
    d.redrives,
    -- PENDING (open), REQUEUED, FIXED, SKIPPED, DISCARDED
    d.resolution,
    -- Attempt that a requeue started
    d.requeued_run_id AS requeued_step_id,
    -- Execution of a requeue
    d.requeued_execution_id,
    -- Labels of the execution, as an object of texts; null without any
    d.labels,
    -- When it failed permanently
    d.quarantined_at,
    -- When it was resolved; null while it is open
    d.resolved_at,
    -- When retention may delete it
    d.expires_at,
    -- Whether retention keeps it
    d.pinned
FROM dlq_deadletterentry d
LEFT JOIN executions_workspace o ON o.id = d.workspace_id
LEFT JOIN executions_workflow w ON w.id = d.workflow_id
WHERE d.workspace_id = {allowed}
