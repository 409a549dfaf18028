-- Subtract steps that were counted but did not run from the windows in which they were counted. The
-- rows are locked in the same order as in `count_steps`.
WITH mine AS MATERIALIZED (
    SELECT u.id, c.less
      FROM executions_quotause u
      JOIN unnest(%(workspaces)s::uuid[], %(targets)s::text[], %(users)s::{user_type}[],
                  %(windows)s::text[], %(starts)s::timestamptz[], %(less)s::bigint[])
           WITH ORDINALITY AS c (workspace_id, target, user_id, name, starts_at, less, n)
        ON u.workspace_id = c.workspace_id AND u.target = c.target
       AND u.user_id IS NOT DISTINCT FROM c.user_id AND u."window" = c.name
       AND u.starts_at = c.starts_at
     WHERE u.resource = 'module'
     ORDER BY c.n
       FOR NO KEY UPDATE OF u
)
UPDATE executions_quotause u SET used = greatest(u.used - m.less, 0) FROM mine m WHERE u.id = m.id
