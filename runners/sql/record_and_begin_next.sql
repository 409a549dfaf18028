--! one partition: execution
-- Record a step that succeeded, and begin the next step, if nothing else must be written. `record`
-- does this for any number of rows and in any state; this statement is a quarter less work for the
-- database. Return a row only if this was done. Otherwise nothing is written, and `record` finds
-- the reason.
-- Races that this prevents:
--  * a holder that lost its lease: token and holder must match, and the insert selects FROM the
--    fenced update;
--  * a pause, cancellation, timeout or roll-back: the execution is locked FOR SHARE, and must be
--    RUNNING and of this epoch;
--  * two planners: a second live run of the next step violates the partial unique index.
-- `(state = 'RUNNING') IS TRUE` makes the planner use the primary key instead of an index on
-- states.
WITH execution AS MATERIALIZED (
    SELECT id
      FROM executions_workflowexecution
     WHERE id = %(execution)s AND epoch = %(epoch)s AND (state = 'RUNNING') IS TRUE
       FOR SHARE
), fenced AS (
    UPDATE runners_run r
       SET state = 'SUCCESS',
           outcome = %(outcome)s,
           outputs = %(outputs)s::jsonb,
           error = '',
           error_type = '',
           error_details = NULL,
           duration_ms = %(duration_ms)s,
           cached_from = NULL,
           finished_at = clock_timestamp()
      FROM execution e
     WHERE r.id = %(run)s
       AND (r.execution_id = %(execution)s OR r.execution_id BETWEEN %(execution)s AND %(execution)s)
       AND r.execution_id = e.id
       AND (r.state = 'RUNNING') IS TRUE
       AND r.lease_token = %(token)s AND r.leased_by = %(holder)s
    RETURNING r.execution_id, r.epoch, r.priority
)
INSERT INTO runners_run (
    id, execution_id, epoch, segment, step_path, task_id, module_id, module,
    attempt, budget_start, state, superseded, queue, priority,
    lease_token, leased_by, lease_until, deadline_at, recoveries,
    idempotency_key, inputs_hash, config_hash, inputs, outcome, error, error_type,
    due_at, publications, queued_at, started_at, cost_tokens, cost_amount
)
SELECT %(next)s, f.execution_id, f.epoch, %(segment)s, %(path)s, %(task)s, %(module_id)s,
       %(module)s, 1, 1, 'RUNNING', false, %(queue)s, f.priority,
       1, %(holder)s, clock_timestamp() + %(lease)s * interval '1 second',
       clock_timestamp() + %(timeout)s * interval '1 second', 0,
       %(key)s, %(inputs_hash)s, %(config_hash)s, %(inputs)s::jsonb, '', '', '',
       clock_timestamp() + %(lease)s * interval '1 second', 0,
       clock_timestamp(), clock_timestamp(), 0, 0
  FROM fenced f
RETURNING 1
