-- Add changes to the hourly counters of groups. Dead letters that moved to another group are
-- subtracted only from existing rows: a row that was deleted meanwhile stays deleted.
WITH news AS (
    SELECT * FROM unnest(%(groups)s::uuid[], %(hours)s::timestamptz[], %(seen)s::bigint[])
                  AS t (group_id, hour, seen)
), fewer AS (
    UPDATE dlq_grouphour h SET count = greatest(0, h.count + n.seen)
      FROM news n
     WHERE n.seen < 0 AND h.group_id = n.group_id AND h.hour = n.hour
)
INSERT INTO dlq_grouphour (group_id, hour, count)
SELECT group_id, hour, seen FROM news WHERE seen > 0
ON CONFLICT (group_id, hour) DO UPDATE SET count = dlq_grouphour.count + excluded.count
