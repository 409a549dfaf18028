--! one partition: execution
-- Complete or fail a leased run. In the same statement, insert the steps that ran with it and the
-- steps that follow; the next run is inserted as already claimed.
-- Races that this prevents:
--  * a holder that lost its lease: token and holder must match. Otherwise nothing is written,
--    because every part selects FROM the fenced update;
--  * a cancellation, timeout or roll-back: the execution is locked FOR SHARE, and must be of this
--    epoch and not final. If it is paused, the result is recorded, and the next run stays PENDING;
--  * two planners: a second live or successful run of a step violates the partial unique index.
--    Without ON CONFLICT, the whole statement is undone.
-- `(state = 'RUNNING') IS TRUE` makes the planner use the primary key instead of an index on
-- states.
-- Always returns one row: (recorded, execution's state, runs claimed, other live runs or NULL).
--+ fenced
    RETURNING r.id, r.execution_id, r.epoch, r.priority, r.heartbeat_details,
              e.state AS execution_state
), added AS (
    INSERT INTO runners_run (
        id, execution_id, epoch, segment, step_path, task_id, module_id, module,
        attempt, budget_start, state, superseded, queue, priority,
        lease_token, leased_by, lease_until, deadline_at, heartbeat_details, recoveries,
        idempotency_key, inputs_hash, config_hash, overrides, inputs, outputs, outcome,
        error, error_type, logs, retry_after, due_at, published_at, publications,
        queued_at, started_at, finished_at, duration_ms, cost_tokens, cost_amount
    )
    SELECT n.id, f.execution_id, f.epoch, n.segment, n.path, n.task, n.module_id, n.module,
           n.attempt, n.budget, v.state, false, n.queue, f.priority,
           CASE WHEN v.state = 'RUNNING' THEN 1 ELSE 0 END,
           CASE WHEN v.state = 'RUNNING' THEN %(holder)s ELSE '' END,
           CASE WHEN v.state = 'RUNNING'
                THEN clock_timestamp() + %(lease)s * interval '1 second' END,
           CASE WHEN v.state = 'RUNNING'
                THEN clock_timestamp() + n.timeout * interval '1 second' END,
           CASE WHEN n.delay IS NOT NULL THEN coalesce(n.details, f.heartbeat_details) END, 0,
           coalesce(n.key, ''), coalesce(n.inputs_hash, ''), coalesce(n.config_hash, ''),
           n.overrides, n.inputs, n.outputs, coalesce(n.outcome, ''),
           '', '', n.logs,
           clock_timestamp() + n.delay * interval '1 second',
           CASE WHEN v.state = 'PENDING'
                THEN clock_timestamp() + coalesce(n.delay, %(patience)s) * interval '1 second'
                WHEN v.state = 'RUNNING'
                THEN clock_timestamp() + %(lease)s * interval '1 second' END,
           CASE WHEN v.state = 'PENDING' AND n.delay IS NULL THEN clock_timestamp() END,
           CASE WHEN v.state = 'PENDING' AND n.delay IS NULL THEN 1 ELSE 0 END,
           clock_timestamp(),
           CASE WHEN v.state <> 'PENDING' THEN clock_timestamp() END,
           CASE WHEN v.state IN ('SUCCESS', 'SKIPPED') THEN clock_timestamp() END,
           n.ms, 0, 0
      FROM fenced f
     CROSS JOIN json_to_recordset(%(rows)s::json) AS n (
           id uuid, state text, segment text, path text, task uuid, module_id uuid, module text,
           attempt int, budget int, queue text, timeout float8, delay float8,
           key text, inputs_hash text, config_hash text,
           overrides jsonb, inputs jsonb, outputs jsonb, logs jsonb, outcome text, ms float8,
           details jsonb)
     CROSS JOIN LATERAL (
           SELECT CASE WHEN n.state = 'RUNNING' AND f.execution_state <> 'RUNNING'
                       THEN 'PENDING' ELSE n.state END AS state) AS v
    RETURNING state
)
SELECT (SELECT count(*) FROM fenced),
       (SELECT execution_state FROM fenced),
       (SELECT count(*) FROM added WHERE state = 'RUNNING'),
--+ other_live_runs
