-- Record what an attempt spent: one row for each model. Add the amounts to the counters of the
-- budgets of the workspace and of the execution's principal. Budgets of tokens have no currency.
-- Races that this prevents:
--  * a budget that is deleted meanwhile: it is locked, so that no counter remains without its
--    budget;
--  * many steps at once: each adds to a locked counter, in the order of the budgets. So nothing is
--    lost, and no transactions deadlock. Run this statement last in its transaction, because others
--    wait for the counter.
-- Return a row for each budget that is spent or past its soft threshold, if no notification was
-- sent yet.
WITH spender AS MATERIALIZED (
    SELECT id, workspace_id, workflow_id, principal_id
      FROM executions_workflowexecution
     WHERE id = %(execution)s
), spent AS MATERIALIZED (
    SELECT *
      FROM json_to_recordset(%(costs)s::json) AS c (
           id uuid, model text, currency text, input_tokens bigint, output_tokens bigint,
           tokens bigint, amount numeric)
), entries AS (
    INSERT INTO runners_costentry (
        id, workspace_id, workflow_id, execution_id, run_id, user_id, module, model,
        input_tokens, output_tokens, tokens, amount, currency, created_at
    )
    SELECT c.id, s.workspace_id, s.workflow_id, s.id, %(run)s, s.principal_id, %(module)s, c.model,
           c.input_tokens, c.output_tokens, c.tokens, c.amount, c.currency, clock_timestamp()
      FROM spent c CROSS JOIN spender s
), concerned AS MATERIALIZED (
    SELECT b.id, b.amount, b.soft_percent, b.currency,
           CASE b.period WHEN 'total' THEN b.created_at
                         ELSE date_trunc(b.period, clock_timestamp(), 'UTC') END AS starts_at
      FROM runners_budget b
      JOIN spender s ON s.workspace_id = b.workspace_id
       AND (b.user_id IS NULL OR b.user_id = s.principal_id)
     ORDER BY b.id
       FOR KEY SHARE OF b
), added AS (
    INSERT INTO runners_budgetuse AS u (budget_id, starts_at, spent)
    SELECT c.id, c.starts_at, least(m.more, %(most)s)
      FROM concerned c
     CROSS JOIN LATERAL (
           SELECT sum(CASE c.currency WHEN '' THEN s.tokens WHEN s.currency THEN s.amount END)
                  AS more FROM spent s) AS m
     WHERE m.more > 0
     ORDER BY c.id
    ON CONFLICT ON CONSTRAINT budget_use_once
    DO UPDATE SET spent = least(u.spent + EXCLUDED.spent, %(most)s)
    RETURNING u.budget_id, u.starts_at, u.spent, u.soft_told_at, u.spent_told_at
)
SELECT a.budget_id, a.starts_at, a.spent
  FROM added a JOIN concerned c ON c.id = a.budget_id
 WHERE (a.spent >= c.amount AND a.spent_told_at IS NULL)
    OR (a.spent >= c.amount * c.soft_percent / 100 AND a.soft_told_at IS NULL)
 ORDER BY a.budget_id
