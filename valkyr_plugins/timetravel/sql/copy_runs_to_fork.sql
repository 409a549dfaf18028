-- Copy runs of one execution into a fork: the same results, with new IDs and new times. A run
-- without an end is a container, which waits for the rest of its body.
INSERT INTO runners_run (
    id, execution_id, epoch, segment, step_path, task_id, module_id, module, attempt, budget_start,
    state, superseded, queue, priority, lease_token, leased_by, recoveries, idempotency_key,
    inputs_hash, config_hash, inputs, outputs, outcome, error, error_type, error_details,
    waits_for, cached_from, publications, queued_at, started_at, finished_at, duration_ms,
    cost_tokens, cost_amount
)
SELECT c.id, %(fork)s, 0, p.step_path, p.step_path, p.task_id, p.module_id, p.module, 1, 1,
       CASE WHEN w.waits THEN 'WAITING' ELSE p.state END, false, p.queue, %(priority)s, 0, '', 0,
       '', p.inputs_hash, p.config_hash, p.inputs,
       CASE WHEN w.waits THEN NULL ELSE p.outputs END,
       CASE WHEN w.waits THEN '' ELSE p.outcome END,
       CASE WHEN w.waits THEN '' ELSE p.error END,
       CASE WHEN w.waits THEN '' ELSE p.error_type END,
       CASE WHEN w.waits THEN NULL ELSE p.error_details END,
       CASE WHEN w.waits THEN 'body' ELSE p.waits_for END,
       p.id, 0, c.begun, c.begun, c.ended, CASE WHEN w.waits THEN NULL ELSE 0 END, 0, 0
  FROM unnest(%(known)s::uuid[], %(ids)s::uuid[], %(begun)s::timestamptz[],
              %(ended)s::timestamptz[]) AS c (known, id, begun, ended)
 CROSS JOIN LATERAL (SELECT c.ended IS NULL AS waits) w
  JOIN runners_run p ON p.id = c.known
    AND (p.execution_id = %(origin)s OR p.execution_id BETWEEN %(origin)s AND %(origin)s)
