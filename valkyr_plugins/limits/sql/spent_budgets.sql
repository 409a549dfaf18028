-- Budgets that are spent in their present period, of a workspace itself and of one principal in it;
-- with `killing` those alone that have a kill switch.
SELECT b.id, b.workspace_id, w.slug, b.user_id, b.period, b.currency, b.amount, u.spent, u.starts_at,
       clock_timestamp()
  FROM runners_budget b
  JOIN executions_workspace w ON w.id = b.workspace_id
  JOIN runners_budgetuse u ON u.budget_id = b.id
   AND u.starts_at = CASE b.period WHEN 'total' THEN b.created_at
                                   ELSE date_trunc(b.period, statement_timestamp(), 'UTC') END
 WHERE u.spent >= b.amount AND (b.kill_switch OR NOT %(killing)s)
   AND (%(workspace)s::uuid IS NULL OR b.workspace_id = %(workspace)s)
   AND (%(workspace)s::uuid IS NULL OR b.user_id IS NULL OR b.user_id = %(user)s::{user_type})
 ORDER BY b.id
