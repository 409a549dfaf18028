-- Fence a result: end the leased run only if its lease, its epoch and its execution are still
-- current. Each statement names after `RETURNING` what it needs from the run; its other changes
-- select FROM `fenced`.
WITH execution AS MATERIALIZED (
    SELECT id, state, place
      FROM executions_workflowexecution
     WHERE id = %(execution)s AND epoch = %(epoch)s AND state IN ('RUNNING', 'PAUSED')
       FOR SHARE
), fenced AS (
    UPDATE runners_run r
       SET state = %(state)s,
           outcome = %(outcome)s,
           outputs = %(outputs)s::jsonb,
           error = %(error)s,
           error_type = %(error_type)s,
           error_details = %(error_details)s::jsonb,
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
       AND r.lease_token = %(token)s AND r.leased_by = %(holder)s
