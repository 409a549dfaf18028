-- How many runs are held for each of these targets, counted up to `most`. The order is
-- that of the index waiter_key, which the planner would not always take by itself.
SELECT k.workspace_id, k.target, c.held
  FROM unnest(%(workspaces)s::uuid[], %(targets)s::text[]) AS k (workspace_id, target)
 CROSS JOIN LATERAL (
    SELECT count(*) AS held
      FROM (SELECT FROM runners_waiter w
             WHERE w.kind = 'circuit' AND w.key = k.target AND w.workspace_id = k.workspace_id
             ORDER BY w.run_id LIMIT %(most)s) first_ones
 ) c
