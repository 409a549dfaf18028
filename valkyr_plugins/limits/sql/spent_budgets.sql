--! plan each time
-- Return the budgets that are spent in their current period: those of the given workspaces, and of
-- the given principals in them, or all. With `killing`, return only those that have a kill switch.
SELECT b.id, b.workspace_id, w.slug, b.user_id, b.period, b.currency, b.amount, u.spent, u.starts_at,
       clock_timestamp()
  FROM runners_budget b
  JOIN executions_workspace w ON w.id = b.workspace_id
  JOIN runners_budgetuse u ON u.budget_id = b.id
   AND u.starts_at = CASE b.period WHEN 'total' THEN b.created_at
                                   ELSE date_trunc(b.period, statement_timestamp(), 'UTC') END
 WHERE u.spent >= b.amount AND (b.kill_switch OR NOT %(killing)s)
   AND (%(workspaces)s::uuid[] IS NULL
     OR EXISTS (SELECT 1
                  FROM unnest(%(workspaces)s::uuid[], %(users)s::{user_type}[])
                       AS s (workspace_id, user_id)
                 WHERE s.workspace_id = b.workspace_id
                   AND (b.user_id IS NULL OR b.user_id = s.user_id)))
 ORDER BY b.id
