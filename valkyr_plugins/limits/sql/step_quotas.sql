-- The quotas that concern a step, with what is used in the present windows: those on its module type,
-- and for one that costs those on tokens, of the workspace and of who started the execution.
SELECT q.id, q.user_id, q.resource, q.target, q.max_concurrent, q.max_per_hour, q.max_per_day,
       coalesce(h.used, 0), coalesce(d.used, 0), clock_timestamp()
  FROM executions_quota q
  LEFT JOIN executions_quotause h
    ON h.workspace_id = q.workspace_id AND h.user_id IS NOT DISTINCT FROM q.user_id
   AND h.resource = q.resource AND h.target = q.target AND h."window" = 'hour'
   AND h.starts_at = date_trunc('hour', statement_timestamp(), 'UTC')
  LEFT JOIN executions_quotause d
    ON d.workspace_id = q.workspace_id AND d.user_id IS NOT DISTINCT FROM q.user_id
   AND d.resource = q.resource AND d.target = q.target AND d."window" = 'day'
   AND d.starts_at = date_trunc('day', statement_timestamp(), 'UTC')
 WHERE q.workspace_id = %(workspace)s AND (q.user_id IS NULL OR q.user_id = %(user)s::{user_type})
   AND ((q.resource = 'module' AND q.target = %(module)s)
     OR (q.resource = 'tokens' AND %(costs)s AND q.target IN ('', %(model)s)))
 ORDER BY q.user_id NULLS FIRST, q.id
