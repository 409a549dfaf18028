-- Word for the counters that entries were opened or closed, a row for each of their groups.
INSERT INTO dlq_groupnews (group_id, at, version_number, seen, open, moved)
SELECT group_id, clock_timestamp(), 0, 0, %(opened)s::int * count(*), false
  FROM dlq_deadletterentry
 WHERE id = ANY(%(ids)s)
 GROUP BY group_id
