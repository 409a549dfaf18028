-- Targets for which steps are held, with their breakers, where some of them may be woken: those
-- that are closed, and those that are due for a probe, unless some were woken just now. `whatever`
-- asks for all of them.
-- Thousands may be held for one target: the index waiter_key is skipped through, a probe a target.
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
