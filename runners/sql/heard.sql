--! plan each time
-- Events that came while these runs fell asleep are delivered anew: up to a time, or (without one)
-- all. One that began to wait anew is left as it is. A row that somebody holds is being woken, so it is left out, and nobody waits in a circle.
WITH free AS (
    SELECT w.run_id, h.upto
      FROM unnest(%(runs)s::uuid[], %(since)s::timestamptz[], %(upto)s::timestamptz[])
           AS h (run_id, since, upto)
      JOIN runners_waiter w ON w.run_id = h.run_id AND w.unheard_since = h.since
       FOR UPDATE OF w SKIP LOCKED
)
UPDATE runners_waiter w SET unheard_since = f.upto FROM free f WHERE w.run_id = f.run_id
