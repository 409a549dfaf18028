-- Hand pending runs of remote queues to a remote runner: the oldest of the highest priority first.
-- Races closed here:
--  * two runners that ask at once: a run that somebody else is about to take is passed over;
--  * a pause or cancel that commits meanwhile: the execution is locked FOR SHARE and its state read
--    again. Nothing here waits for a lock, so that runs may be locked beside executions;
--  * a late holder: the token grows, and every later write compares it.
-- Only runs whose inputs a worker has rendered (`secret_places` is set) are handed out.
-- Candidates are read without locks, a few more than are wanted, for those that are passed over.
-- The names of our own workers' queues stand here as in the index of all other queues' runs.
-- At least one row: (candidates seen, and the run or NULL).
WITH candidates AS MATERIALIZED (
    SELECT c.id, c.priority
      FROM unnest(%(queues)s::text[]) AS q (name)
     CROSS JOIN LATERAL (
           SELECT r.id, r.priority
             FROM runners_run r
             JOIN executions_workflowexecution e ON e.id = r.execution_id
            WHERE r.state = 'PENDING' AND r.queue = q.name
              AND r.queue NOT IN ('control', 'default', 'io')
              AND r.secret_places IS NOT NULL
              AND (r.retry_after IS NULL OR r.retry_after <= clock_timestamp())
              AND e.epoch = r.epoch AND e.state = 'RUNNING' AND e.place = 'HELD'
              AND e.workspace_id = ANY(%(workspaces)s::uuid[])
            ORDER BY r.priority DESC, r.id
            LIMIT %(looked)s) c
     ORDER BY c.priority DESC, c.id
     LIMIT %(looked)s
), picked AS MATERIALIZED (
    SELECT r.id, e.workspace_id, e.version_id
      FROM candidates c
      JOIN runners_run r ON r.id = c.id
      JOIN executions_workflowexecution e ON e.id = r.execution_id
     WHERE (r.state = 'PENDING') IS TRUE
       AND e.epoch = r.epoch AND (e.state = 'RUNNING') IS TRUE AND e.place = 'HELD'
     ORDER BY c.priority DESC, c.id
     LIMIT %(limit)s
       FOR UPDATE OF r SKIP LOCKED
       FOR SHARE OF e SKIP LOCKED
), leased AS (
    UPDATE runners_run r
       SET state = 'LEASED',
           lease_token = r.lease_token + 1,
           leased_by = w.slug || '/' || %(runner)s,
           lease_until = clock_timestamp() + %(lease)s * interval '1 second',
           due_at = clock_timestamp() + %(lease)s * interval '1 second',
           heartbeat_at = clock_timestamp(),
           started_at = NULL,
           deadline_at = NULL
      FROM picked p JOIN executions_workspace w ON w.id = p.workspace_id
     WHERE r.id = p.id
    RETURNING r.id, p.version_id, r.step_path, r.lease_token, r.leased_by, r.priority, r.inputs,
              r.secret_places
)
SELECT k.seen, l.id, l.version_id, l.step_path, l.lease_token, l.leased_by, l.inputs::json,
       l.secret_places::json
  FROM (SELECT count(*) AS seen FROM candidates) k
  LEFT JOIN leased l ON true
 ORDER BY l.priority DESC, l.id
