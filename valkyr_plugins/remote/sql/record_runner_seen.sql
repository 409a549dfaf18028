-- Record that a remote runner asks for work, in each workspace for which it works. Unless its
-- queues change, a row is written at most every five seconds, however often the runner asks. A
-- Valkyr worker of that name is not changed.
INSERT INTO runners_runner AS n (id, workspace_id, name, host, pid, pool, queues, started_at, seen_at)
SELECT own.id, w.id, w.slug || '/' || %(runner)s, %(host)s, 0, 'remote', %(queues)s::jsonb,
       clock_timestamp(), clock_timestamp()
  FROM unnest(%(ids)s::uuid[], %(workspaces)s::uuid[]) AS own (id, workspace)
  JOIN executions_workspace w ON w.id = own.workspace
 ORDER BY w.id
ON CONFLICT (name) DO UPDATE
   SET host = excluded.host, queues = excluded.queues, seen_at = excluded.seen_at
 WHERE n.pool = 'remote'
   AND (n.queues <> excluded.queues OR n.seen_at < clock_timestamp() - interval '5 seconds')
