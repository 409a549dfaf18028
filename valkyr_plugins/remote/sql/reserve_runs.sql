-- Reserve pending runs of remote queues for a remote runner: the highest priority first, then the
-- oldest. A reserved run is still PENDING; until `lease_until`, no other runner can reserve it. Its
-- secrets are read and its gates are checked before it is leased.
-- Races that this prevents:
--  * two runners that ask at once: a run that another transaction is taking is skipped;
--  * an execution that a worker is planning: this statement never waits for a lock, so that it can
--    lock runs together with executions;
--  * a late holder: the token grows, and every later write compares it.
-- Only runs whose inputs a worker has rendered (`secret_places` is set) are returned.
-- Candidates are read without locks, a few more than are wanted, because some may be skipped.
-- The names of the queues of Valkyr's workers are the same as in the index of the runs of all other
-- queues.
-- At least one row: (candidates seen, and the run or NULL).
WITH candidates AS MATERIALIZED (
    SELECT c.id, c.execution_id, c.priority
      FROM unnest(%(queues)s::text[]) AS q (name)
     CROSS JOIN LATERAL (
           SELECT r.id, r.execution_id, r.priority
             FROM runners_run r
             JOIN executions_workflowexecution e ON e.id = r.execution_id
            WHERE r.state = 'PENDING' AND r.queue = q.name
              AND r.queue NOT IN ('control', 'default', 'io')
              AND r.secret_places IS NOT NULL
              AND (r.retry_after IS NULL OR r.retry_after <= clock_timestamp())
              AND (r.lease_until IS NULL OR r.lease_until <= clock_timestamp())
              AND e.epoch = r.epoch AND e.state = 'RUNNING' AND e.place = 'HELD'
              AND e.workspace_id = ANY(%(workspaces)s::uuid[])
            ORDER BY r.priority DESC, r.id
            LIMIT %(looked)s) c
     ORDER BY c.priority DESC, c.id
     LIMIT %(looked)s
), picked AS MATERIALIZED (
    SELECT r.id, r.execution_id, e.workspace_id, e.version_id, e.principal_id
      FROM candidates c
      JOIN runners_run r ON r.id = c.id
        AND (r.execution_id = c.execution_id OR r.execution_id BETWEEN c.execution_id AND c.execution_id)
      JOIN executions_workflowexecution e ON e.id = r.execution_id
     WHERE (r.state = 'PENDING') IS TRUE
       AND (r.lease_until IS NULL OR r.lease_until <= clock_timestamp())
       AND e.epoch = r.epoch AND (e.state = 'RUNNING') IS TRUE AND e.place = 'HELD'
     ORDER BY c.priority DESC, c.id
     LIMIT %(limit)s
       FOR UPDATE OF r SKIP LOCKED
       FOR SHARE OF e SKIP LOCKED
), reserved AS (
    UPDATE runners_run r
       SET lease_token = r.lease_token + 1,
           lease_until = clock_timestamp() + %(lease)s * interval '1 second',
           started_at = CASE WHEN r.waits_for <> '' THEN r.started_at END
      FROM picked p JOIN executions_workspace w ON w.id = p.workspace_id
     WHERE r.id = p.id
       AND (r.execution_id = p.execution_id OR r.execution_id BETWEEN p.execution_id AND p.execution_id)
    RETURNING r.id, r.execution_id, r.epoch, r.priority, p.version_id, p.principal_id, r.step_path,
              r.lease_token, w.slug || '/' || %(runner)s AS holder, r.attempt, r.waits_for, r.wake,
              r.inputs, r.secret_places
)
SELECT k.seen, v.id, v.execution_id, v.epoch, v.priority, v.version_id, v.principal_id, v.step_path,
       v.lease_token, v.holder, v.attempt, v.waits_for, v.wake::json, v.inputs::json,
       v.secret_places::json
  FROM (SELECT count(*) AS seen FROM candidates) k
  LEFT JOIN reserved v ON true
 ORDER BY v.priority DESC, v.id
