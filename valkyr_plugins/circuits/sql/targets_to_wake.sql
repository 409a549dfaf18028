-- Return the targets with held steps of which some may be woken: those whose circuit is closed or
-- due for a probe, unless some were woken just now. With `whatever`, return all targets.
-- Thousands of steps may be held for one target, so the index waiter_key is read with one probe for
-- each target.
WITH RECURSIVE held AS (
    (SELECT key, workspace_id FROM runners_waiter
      WHERE kind = 'circuit' ORDER BY key, workspace_id LIMIT 1)
    UNION ALL
    SELECT n.key, n.workspace_id
      FROM held h
     CROSS JOIN LATERAL (
        SELECT w.key, w.workspace_id FROM runners_waiter w
         WHERE w.kind = 'circuit' AND (w.key, w.workspace_id) > (h.key, h.workspace_id)
         ORDER BY w.key, w.workspace_id LIMIT 1
     ) n
)
SELECT h.workspace_id, h.key
  FROM held h
  LEFT JOIN LATERAL (
    SELECT state, next_retry_at, probe_until, called_until FROM runners_circuitbreaker
     WHERE workspace_id = h.workspace_id AND target = h.key LIMIT 1
  ) b ON true
 WHERE %(whatever)s
    OR (b.called_until IS NULL OR b.called_until <= statement_timestamp())
       AND coalesce(CASE b.state WHEN 'OPEN' THEN b.next_retry_at <= statement_timestamp()
                                 WHEN 'HALF_OPEN' THEN b.probe_until <= statement_timestamp()
                    END, true)
 LIMIT %(batch)s
