-- Leases let their places go: the quotas that have one more now. A place that the same run took
-- again, under another token, stays.
DELETE FROM executions_quotahold h
 USING unnest(%(runs)s::uuid[], %(tokens)s::int[]) AS l (run_id, token)
 WHERE h.run_id = l.run_id AND h.token = l.token
RETURNING h.quota_id
