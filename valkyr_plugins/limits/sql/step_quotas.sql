--! plan each time
-- Return the quotas that apply to each step, with their use in the current windows: quotas on the
-- step's module type and, if the step has costs, on tokens. Quotas of the workspace and of the
-- execution's principal apply. The first column is the step's number in the order of the
-- parameters, from 1.
SELECT s.n, q.id, q.user_id, q.resource, q.target, q.max_concurrent, q.max_per_hour, q.max_per_day,
       coalesce(h.used, 0), coalesce(d.used, 0), clock_timestamp()
  FROM unnest(%(workspaces)s::uuid[], %(users)s::{user_type}[], %(modules)s::text[],
              %(costs)s::bool[], %(models)s::text[])
       WITH ORDINALITY AS s (workspace_id, user_id, module, costs, model, n)
  JOIN executions_quota q
    ON q.workspace_id = s.workspace_id AND (q.user_id IS NULL OR q.user_id = s.user_id)
   AND ((q.resource = 'module' AND q.target = s.module)
     OR (q.resource = 'tokens' AND s.costs AND q.target IN ('', s.model)))
  LEFT JOIN executions_quotause h
    ON h.workspace_id = q.workspace_id AND h.user_id IS NOT DISTINCT FROM q.user_id
   AND h.resource = q.resource AND h.target = q.target AND h."window" = 'hour'
   AND h.starts_at = date_trunc('hour', statement_timestamp(), 'UTC')
  LEFT JOIN executions_quotause d
    ON d.workspace_id = q.workspace_id AND d.user_id IS NOT DISTINCT FROM q.user_id
   AND d.resource = q.resource AND d.target = q.target AND d."window" = 'day'
   AND d.starts_at = date_trunc('day', statement_timestamp(), 'UTC')
 ORDER BY s.n, q.user_id NULLS FIRST, q.id
