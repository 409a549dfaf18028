-- Queue the changes of the counters of a new dead letter's group: one more failure, and one more
-- open one, at the time of the failure.
INSERT INTO dlq_groupnews (group_id, at, version_number, seen, open, moved)
SELECT group_id, quarantined_at, version_number, 1, 1, false
  FROM dlq_deadletterentry WHERE id = %(id)s
