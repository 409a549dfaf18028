WITH moment AS MATERIALIZED (SELECT clock_timestamp() AS now), inserted AS (
    INSERT INTO executions_workflowexecution (
        id, workspace_id, workflow_id, version_id, trigger_id, trigger_type, principal_id,
        parent_id, parent_run_id, depth, failure_of_id, origin_id, origin_point, canary,
        state, place, epoch, priority, idempotency_key, request_hash,
        concurrency_key, concurrency_limit,
        trigger_payload, context_data, trace_id, error_message, error_stack_trace,
        timeout_seconds, created_at, started_at, deadline_at, labels
    )
    SELECT n.id, %(workspace)s, %(workflow)s, %(version)s, %(trigger)s, %(trigger_type)s,
           %(principal)s,
           %(parent)s, %(parent_run)s, %(depth)s, %(failure_of)s, %(origin)s, %(origin_point)s,
           %(canary)s,
           CASE WHEN n.runs THEN 'RUNNING' ELSE 'PENDING' END, %(place)s, 0, %(priority)s,
           %(idempotency_key)s, %(request_hash)s,
           n.key, CASE WHEN n.key IS NOT NULL THEN %(key_limit)s::int END,
           n.payload, coalesce(n.variables, %(variables)s::jsonb), n.trace, '', '',
           %(timeout)s::float8, m.now, CASE WHEN n.runs THEN m.now END,
           CASE WHEN n.runs THEN m.now + %(timeout)s::float8 * interval '1 second' END, n.labels
      FROM moment m, json_to_recordset(%(rows)s::json) AS n (
           id uuid, runs bool, payload jsonb, variables jsonb, key text, trace text,
           labels jsonb)
