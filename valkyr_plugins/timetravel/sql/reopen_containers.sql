-- Insert a copy of each container that had ended after the point, so that it waits for the rest of
-- its body again. The copies have no counters, which are rebuilt from the rows of the iterations.
INSERT INTO runners_run (
    id, execution_id, epoch, segment, step_path, task_id, module_id, module, attempt, budget_start,
    state, superseded, queue, priority, lease_token, leased_by, recoveries, idempotency_key,
    inputs_hash, config_hash, overrides, inputs, outcome, error, error_type, waits_for,
    publications, queued_at, started_at, cost_tokens, cost_amount
)
SELECT (%(ids)s::uuid[])[row_number() OVER ()],
       c.execution_id, %(epoch)s, c.step_path, c.step_path, c.task_id, c.module_id, c.module,
       c.attempt, c.budget_start, 'WAITING', false, c.queue, c.priority, c.lease_token, '', 0,
       c.idempotency_key, c.inputs_hash, c.config_hash, c.overrides, c.inputs, '', '', '', 'body',
       0, c.queued_at, c.started_at, 0, 0
  FROM (SELECT DISTINCT ON (step_path) *
          FROM runners_run
         WHERE execution_id = %(execution)s AND epoch = %(epoch)s - 1
           AND step_path = ANY(%(around)s)
         ORDER BY step_path, attempt DESC, queued_at DESC) c
 WHERE c.superseded
