-- Lock quotas with slots, in one order, before a slot is taken. The slots are counted in a later
-- statement, which sees what earlier transactions committed.
SELECT id FROM executions_quota
 WHERE id = ANY(%(quotas)s) AND max_concurrent IS NOT NULL
 ORDER BY id
   FOR NO KEY UPDATE
