-- Add the counters of merged groups to those of the group into which they were merged.
UPDATE dlq_failuregroup g
   SET total = g.total + s.total,
       open = g.open + s.open,
       first_seen = least(g.first_seen, s.first_seen),
       last_seen = greatest(g.last_seen, s.last_seen)
  FROM (SELECT sum(total)::bigint AS total, sum(open)::bigint AS open,
               min(first_seen) AS first_seen, max(last_seen) AS last_seen
          FROM dlq_failuregroup WHERE id = ANY(%(sources)s)) s
 WHERE g.id = %(target)s
