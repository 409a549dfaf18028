-- Count the runs that are held for each target, up to `most`. `ORDER BY` makes the planner use the
-- index waiter_key, which it would not always use otherwise.
SELECT k.workspace_id, k.target, c.held
  FROM unnest(%(workspaces)s::uuid[], %(targets)s::text[]) AS k (workspace_id, target)
 CROSS JOIN LATERAL (
    SELECT count(*) AS held
      FROM (SELECT FROM runners_waiter w
             WHERE w.kind = 'circuit' AND w.key = k.target AND w.workspace_id = k.workspace_id
             ORDER BY w.run_id LIMIT %(most)s) first_ones
 ) c
