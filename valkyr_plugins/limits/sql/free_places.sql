-- A run let its places go: the quotas that have one more now.
DELETE FROM executions_quotahold WHERE run_id = %(run)s RETURNING quota_id
