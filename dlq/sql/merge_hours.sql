WITH gone AS (
    DELETE FROM dlq_grouphour WHERE group_id = ANY(%(sources)s) RETURNING hour, count
)
INSERT INTO dlq_grouphour (group_id, hour, count)
SELECT %(target)s, hour, sum(count)::bigint FROM gone GROUP BY hour
ON CONFLICT (group_id, hour) DO UPDATE SET count = dlq_grouphour.count + excluded.count
