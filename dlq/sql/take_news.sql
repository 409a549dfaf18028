-- Take the oldest news away, and say by group, version and hour what they come to. News of a group
-- that was merged are those of the group it was merged into.
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
