-- Word for the counters that an entry was added: one more seen, and open, when it failed.
INSERT INTO dlq_groupnews (group_id, at, version_number, seen, open, moved)
SELECT group_id, quarantined_at, version_number, 1, 1, false
  FROM dlq_deadletterentry WHERE id = %(id)s
