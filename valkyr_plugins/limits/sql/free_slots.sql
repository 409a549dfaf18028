-- Free the slots of leases that have ended, and return the quotas that now have one more. A slot
-- that the same run took again, under another token, is not freed.
DELETE FROM executions_quotahold h
 USING unnest(%(runs)s::uuid[], %(tokens)s::int[]) AS l (run_id, token)
 WHERE h.run_id = l.run_id AND h.token = l.token
RETURNING h.quota_id
