-- Delete the oldest queued changes of counters, and return their sums by group, version, hour, and
-- whether the dead letters only moved to another group. The changes of a merged group are added to
-- the group into which it was merged.
WITH gone AS (
    DELETE FROM dlq_groupnews
     WHERE id = ANY (ARRAY(
        SELECT id FROM dlq_groupnews ORDER BY id LIMIT %(most)s FOR UPDATE SKIP LOCKED))
    RETURNING group_id, at, version_number, seen, open, moved
)
SELECT coalesce(g.merged_into_id, g.id), n.version_number, date_trunc('hour', n.at, 'UTC'), n.moved,
       sum(n.seen)::bigint, sum(n.open)::bigint,
       min(n.at) FILTER (WHERE n.seen > 0), max(n.at) FILTER (WHERE n.seen > 0), count(*)
  FROM gone n JOIN dlq_failuregroup g ON g.id = n.group_id
 GROUP BY 1, 2, 3, 4
