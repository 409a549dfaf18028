-- A step was counted and then held back by something else: take it off the windows it was counted
-- in, in the order in which they are locked by who counts.
WITH mine AS MATERIALIZED (
    SELECT u.id
      FROM executions_quotause u
      JOIN unnest(%(users)s::{user_type}[], %(windows)s::text[], %(starts)s::timestamptz[])
           WITH ORDINALITY AS c(user_id, name, starts_at, n)
        ON u.user_id IS NOT DISTINCT FROM c.user_id AND u."window" = c.name
       AND u.starts_at = c.starts_at
     WHERE u.workspace_id = %(workspace)s AND u.resource = 'module' AND u.target = %(target)s
     ORDER BY c.n
       FOR NO KEY UPDATE OF u
)
UPDATE executions_quotause u SET used = greatest(u.used - 1, 0) FROM mine m WHERE u.id = m.id
