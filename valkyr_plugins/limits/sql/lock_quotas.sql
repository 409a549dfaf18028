-- Whoever takes a place of a quota holds its row, in one order; the count comes in a statement after
-- this one, so that it sees what those before us committed.
SELECT id FROM executions_quota
 WHERE id = ANY(%(quotas)s) AND max_concurrent IS NOT NULL
 ORDER BY id
   FOR NO KEY UPDATE
