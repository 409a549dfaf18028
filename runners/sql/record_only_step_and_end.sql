--! one partition: execution
-- Record the first attempt of an execution's only step, and end the execution: `lock`,
-- `record_without_new_runs` and `end_as_success` in one statement, because no other run must be
-- checked. Return a row only if this was done. Otherwise nothing is written, and those three
-- statements find the reason.
-- Races that this prevents:
--  * a holder that lost its lease: token and holder must match, and the end selects FROM the fenced
--    update;
--  * a pause, cancellation, timeout, roll-back or undo: the execution is locked, and must be
--    RUNNING, of this epoch, and not being undone. It is locked before the run, as everywhere.
-- `(state = 'RUNNING') IS TRUE` makes the planner use the primary key instead of an index on
-- states.
WITH execution AS MATERIALIZED (
    SELECT id
      FROM executions_workflowexecution
     WHERE id = %(execution)s AND epoch = %(epoch)s AND (state = 'RUNNING') IS TRUE
       AND compensation = ''
       FOR NO KEY UPDATE
), fenced AS (
    UPDATE runners_run r
       SET state = 'SUCCESS',
           outcome = %(outcome)s,
           outputs = %(outputs)s::jsonb,
           error = '',
           error_type = '',
           error_details = NULL,
           logs = coalesce(%(logs)s::jsonb, r.logs),
           duration_ms = %(duration_ms)s,
           cost_tokens = r.cost_tokens + %(cost_tokens)s,
           cost_amount = r.cost_amount + %(cost_amount)s,
           cached_from = %(cached_from)s,
           finished_at = clock_timestamp()
      FROM execution e
     WHERE r.id = %(run)s
       AND (r.execution_id = %(execution)s OR r.execution_id BETWEEN %(execution)s AND %(execution)s)
       AND r.execution_id = e.id
       AND (r.state = 'RUNNING') IS TRUE
       AND r.lease_token = %(token)s AND r.leased_by = %(holder)s AND r.attempt = 1
    RETURNING r.execution_id, r.cost_tokens, r.cost_amount
)
UPDATE executions_workflowexecution x
   SET state = 'SUCCESS',
       place = 'HELD',
       output = %(output)s::jsonb,
       error_message = '',
       error_stack_trace = '',
       metrics_snapshot = jsonb_build_object(
           'steps', 1, 'runs', 1, 'retries', 0, 'deadLetters', 0, 'skipped', 0,
           'costTokens', f.cost_tokens, 'costAmount', f.cost_amount, 'quality', NULL,
           'durationMs', round(1000 * extract(epoch FROM clock_timestamp() - x.started_at)),
           'queuedMs', round(1000 * extract(epoch FROM x.started_at - x.created_at))),
       finished_at = clock_timestamp()
  FROM fenced f
 WHERE x.id = f.execution_id
RETURNING
--+ ended_columns
