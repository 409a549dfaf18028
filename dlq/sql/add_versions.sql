-- Add changes to the counters of each group and version of its workflow. Dead letters that moved to
-- another group are subtracted only from existing rows.
WITH news AS (
    SELECT * FROM unnest(%(groups)s::uuid[], %(numbers)s::int[], %(seen)s::bigint[],
                         %(first)s::timestamptz[], %(last)s::timestamptz[])
                  AS t (group_id, number, seen, first, last)
), fewer AS (
    UPDATE dlq_groupversion v SET count = greatest(0, v.count + n.seen)
      FROM news n
     WHERE n.seen < 0 AND v.group_id = n.group_id AND v.number = n.number
)
INSERT INTO dlq_groupversion (group_id, number, count, first_seen, last_seen)
SELECT group_id, number, seen, first, last FROM news WHERE seen > 0
ON CONFLICT (group_id, number) DO UPDATE
   SET count = dlq_groupversion.count + excluded.count,
       first_seen = least(dlq_groupversion.first_seen, excluded.first_seen),
       last_seen = greatest(dlq_groupversion.last_seen, excluded.last_seen)
