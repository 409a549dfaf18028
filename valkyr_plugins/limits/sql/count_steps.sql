-- Count more steps of module types in the current windows. The rows stay locked until the
-- transaction ends, so the next transaction that counts sees what this one committed. They are
-- locked in the order of the parameters.
WITH counted AS (
    INSERT INTO executions_quotause AS u
           (workspace_id, user_id, resource, target, "window", starts_at, used)
    SELECT c.workspace_id, c.user_id, 'module', c.target, c.name,
           date_trunc(c.name, clock_timestamp(), 'UTC'), c.more
      FROM unnest(%(workspaces)s::uuid[], %(targets)s::text[], %(users)s::{user_type}[],
                  %(windows)s::text[], %(more)s::bigint[])
           WITH ORDINALITY AS c (workspace_id, target, user_id, name, more, n)
     ORDER BY c.n
    ON CONFLICT ON CONSTRAINT quota_use_once DO UPDATE SET used = u.used + EXCLUDED.used
    RETURNING u.workspace_id, u.target, u.user_id, u."window" AS name, u.used, u.starts_at
)
SELECT workspace_id, target, user_id, name, used, starts_at FROM counted
