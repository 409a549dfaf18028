WITH gone AS (
    DELETE FROM dlq_groupversion WHERE group_id = ANY(%(sources)s)
    RETURNING number, count, first_seen, last_seen
)
INSERT INTO dlq_groupversion (group_id, number, count, first_seen, last_seen)
SELECT %(target)s, number, sum(count)::bigint, min(first_seen), max(last_seen)
  FROM gone GROUP BY number
ON CONFLICT (group_id, number) DO UPDATE
   SET count = dlq_groupversion.count + excluded.count,
       first_seen = least(dlq_groupversion.first_seen, excluded.first_seen),
       last_seen = greatest(dlq_groupversion.last_seen, excluded.last_seen)
