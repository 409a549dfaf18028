-- Return rows of the audit trail after the ID `after`, in the order of their IDs: each row's ID,
-- time and content.
SELECT a.id, a.created_at,
--+ activity_content
  FROM executions_activity a
 WHERE a.id > %(after)s AND a.id <= %(until)s
 ORDER BY a.id
 LIMIT %(most)s
