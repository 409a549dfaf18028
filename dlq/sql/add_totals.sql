-- Add changes to the counters of groups that the caller has locked. Return the groups' new totals.
UPDATE dlq_failuregroup g
   SET total = greatest(0, g.total + t.seen),
       open = g.open + t.open,
       first_seen = least(g.first_seen, t.first),
       last_seen = greatest(g.last_seen, t.last)
  FROM unnest(%(groups)s::uuid[], %(seen)s::bigint[], %(open)s::bigint[],
              %(first)s::timestamptz[], %(last)s::timestamptz[]) AS t (id, seen, open, first, last)
 WHERE g.id = t.id
RETURNING g.id, g.total
