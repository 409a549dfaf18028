-- Return the limits of a workspace's executions: its tier, and the quotas of the workspace itself
-- and of one principal in it. There is one row for each quota, or one row without a quota.
SELECT t.name, t.max_concurrent, t.max_pending, t.max_per_hour, t.max_per_day,
       w.archived_at IS NOT NULL,
       (SELECT k.id FROM executions_payloadkey k WHERE k.workspace_id = w.id AND k.seals),
       q.id IS NOT NULL, q.user_id, q.max_per_hour, q.max_per_day
  FROM executions_workspace w
  JOIN executions_tier t ON t.id = w.tier_id
  LEFT JOIN executions_quota q
    ON q.workspace_id = w.id AND q.resource = 'executions' AND q.target = ''
   AND (q.user_id IS NULL OR q.user_id = %(user)s::{user_type})
 WHERE w.id = %(workspace)s
