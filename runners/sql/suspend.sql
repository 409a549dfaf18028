--! one partition: execution
-- Suspend a leased run: release its lease, set its timer, and insert a waiter for what may wake it.
-- The caller holds the execution's lock. A run that waits for an event may miss events that come
-- before the commit; `unheard_since` marks it for a check. Return whether another run of the
-- execution prevents the release of its slot: a live run that does not wait, or that waits for a
-- child, because the child has no slot of its own.
WITH asleep AS (
    UPDATE runners_run r
       SET state = 'WAITING', waits_for = %(kind)s, progress = %(facts)s::jsonb, wake = NULL,
           lease_until = NULL, retry_after = NULL, publications = 0,
           due_at = coalesce(%(until)s::timestamptz,
                             clock_timestamp() + %(seconds)s::float8 * interval '1 second'),
           logs = coalesce(%(logs)s::jsonb, r.logs), duration_ms = %(duration_ms)s,
           cost_tokens = r.cost_tokens + %(cost_tokens)s,
           cost_amount = r.cost_amount + %(cost_amount)s
     WHERE r.id = %(run)s
       AND (r.execution_id = %(execution)s OR r.execution_id BETWEEN %(execution)s AND %(execution)s)
       AND (r.state = 'RUNNING') IS TRUE
       AND r.lease_token = %(token)s AND r.leased_by = %(holder)s
    RETURNING r.id, r.execution_id
), noted AS (
    INSERT INTO runners_waiter (run_id, execution_id, workspace_id, kind, key, created_at,
                                unheard_since)
    SELECT a.id, a.execution_id, e.workspace_id, %(kind)s, %(key)s, c.now,
           CASE WHEN %(kind)s = 'event' THEN c.now END
      FROM asleep a JOIN executions_workflowexecution e ON e.id = a.execution_id
     CROSS JOIN clock_timestamp() AS c (now)
     WHERE %(kind)s IN ('approval', 'callback', 'child', 'circuit', 'event', 'quota')
)
SELECT a.id,
       EXISTS (SELECT 1 FROM runners_run o
                WHERE o.execution_id = %(execution)s AND o.id <> %(run)s
                  AND o.state IN ('LEASED', 'PENDING', 'RUNNING', 'WAITING')
                  AND (o.state <> 'WAITING' OR o.waits_for = 'child'))
  FROM asleep a
