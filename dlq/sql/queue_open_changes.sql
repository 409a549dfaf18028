-- Queue a change of the open counter of each of the dead letters' groups: `opened` (1 or -1) for
-- each dead letter.
INSERT INTO dlq_groupnews (group_id, at, version_number, seen, open, moved)
SELECT group_id, clock_timestamp(), 0, 0, %(opened)s::int * count(*), false
  FROM dlq_deadletterentry
 WHERE id = ANY(%(ids)s)
 GROUP BY group_id
