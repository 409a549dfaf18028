--! plan each time
-- Record up to which time the events that these suspended runs missed were sent for delivery again;
-- without a time, all of them. A run that began another wait meanwhile is not changed. A row that
-- another transaction has locked is skipped, because that transaction wakes the run. So this
-- statement never waits, and cannot deadlock.
WITH free AS (
    SELECT w.run_id, h.upto
      FROM unnest(%(runs)s::uuid[], %(since)s::timestamptz[], %(upto)s::timestamptz[])
           AS h (run_id, since, upto)
      JOIN runners_waiter w ON w.run_id = h.run_id AND w.unheard_since = h.since
       FOR UPDATE OF w SKIP LOCKED
)
UPDATE runners_waiter w SET unheard_since = f.upto FROM free f WHERE w.run_id = f.run_id
