-- Rows of the audit trail in the order of their ids, after one of them: their content, and when each
-- was made.
SELECT a.id, a.created_at,
--+ activity_content
  FROM executions_activity a
 WHERE a.id > %(after)s AND a.id <= %(until)s
 ORDER BY a.id
 LIMIT %(most)s
