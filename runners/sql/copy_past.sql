-- What belongs to a point of one execution, as runs of another that begins there: the same results
-- under new ids, and the containers around them as if they waited. Times are those of now, a
-- microsecond apart in the order of the originals, so that each is a point of its own again.
WITH past AS (
    SELECT r.*, r.state AS kept
      FROM runners_run r
     WHERE r.execution_id = %(execution)s AND r.epoch = %(epoch)s AND NOT r.superseded
       AND (r.state IN ('SKIPPED', 'SUCCESS') OR (r.state = 'FAILED' AND r.outcome = 'error'))
       AND (r.finished_at, r.id) <= (%(at)s, %(last)s) AND r.step_path <> %(before)s
    UNION ALL
    SELECT w.*, 'WAITING'
      FROM (SELECT DISTINCT ON (r.step_path) r.*
              FROM runners_run r
             WHERE r.execution_id = %(execution)s AND r.epoch = %(epoch)s AND NOT r.superseded
               AND r.step_path = ANY(%(around)s)
             ORDER BY r.step_path, r.attempt DESC) w
     WHERE w.finished_at IS NULL OR (w.finished_at, w.id) > (%(at)s, %(last)s)
        OR w.state NOT IN ('SKIPPED', 'SUCCESS') AND w.outcome <> 'error'
), moments AS (
    SELECT id, of, clock.now
           - (count(*) OVER () - row_number() OVER (ORDER BY at, id, of)) * interval '1 microsecond'
           AS at
      FROM (SELECT id, 'begun' AS of, coalesce(started_at, queued_at) AS at FROM past
            UNION ALL
            SELECT id, 'ended', finished_at FROM past WHERE kept <> 'WAITING') m
     CROSS JOIN (SELECT clock_timestamp() AS now) clock
)
INSERT INTO runners_run (
    id, execution_id, epoch, segment, step_path, task_id, module_id, module, attempt, budget_start,
    state, superseded, queue, priority, lease_token, leased_by, recoveries, idempotency_key,
    inputs_hash, config_hash, inputs, outputs, outcome, error, error_type, error_details,
    waits_for, cached_from, publications, queued_at, started_at, finished_at, duration_ms,
    cost_tokens, cost_amount
)
SELECT (lpad(to_hex((1000 * extract(epoch FROM clock_timestamp()))::bigint), 12, '0') || '7'
        || substr(replace(gen_random_uuid()::text, '-', ''), 14))::uuid,
       %(fork)s, 0, p.step_path, p.step_path, p.task_id, p.module_id, p.module, 1, 1,
       p.kept, false, p.queue, %(priority)s, 0, '', 0, '', p.inputs_hash, p.config_hash, p.inputs,
       CASE WHEN p.kept = 'WAITING' THEN NULL ELSE p.outputs END,
       CASE WHEN p.kept = 'WAITING' THEN '' ELSE p.outcome END,
       CASE WHEN p.kept = 'WAITING' THEN '' ELSE p.error END,
       CASE WHEN p.kept = 'WAITING' THEN '' ELSE p.error_type END,
       CASE WHEN p.kept = 'WAITING' THEN NULL ELSE p.error_details END,
       CASE WHEN p.kept = 'WAITING' THEN 'body' ELSE p.waits_for END,
       p.id, 0, begun.at, begun.at, ended.at, CASE WHEN p.kept = 'WAITING' THEN NULL ELSE 0 END,
       0, 0
  FROM past p
  JOIN moments begun ON begun.id = p.id AND begun.of = 'begun'
  LEFT JOIN moments ended ON ended.id = p.id AND ended.of = 'ended'
