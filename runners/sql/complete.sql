-- Complete (or fail) a held run after which nothing is added: `record` without its insert, which
-- costs as much to get ready as the rest. The races that are closed here are named there.
-- Always one row, as of `record`: (recorded, execution's state, 0, other live runs or NULL).
WITH execution AS MATERIALIZED (
    SELECT id, state
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
     WHERE r.id = %(run)s AND r.execution_id = e.id AND (r.state = 'RUNNING') IS TRUE
       AND r.lease_token = %(token)s AND r.leased_by = %(holder)s
    RETURNING e.state AS execution_state
)
SELECT (SELECT count(*) FROM fenced),
       (SELECT execution_state FROM fenced),
       0,
       CASE WHEN %(survey)s THEN EXISTS (
           SELECT 1 FROM runners_run o
            WHERE o.execution_id = %(execution)s AND o.id <> %(run)s
              AND o.state IN ('PENDING', 'LEASED', 'RUNNING', 'WAITING')
              AND (o.state <> 'WAITING' OR o.waits_for <> 'body')) END
