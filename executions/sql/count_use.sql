-- Count more uses of a resource in the current windows. The rows stay locked until the transaction
-- ends. So the next transaction that counts sees what this one committed, and a rollback undoes the
-- count. The rows are locked in the order of the parameters.
WITH counted AS (
    INSERT INTO executions_quotause AS u
           (workspace_id, user_id, resource, target, "window", starts_at, used)
    SELECT %(workspace)s, c.user_id, %(resource)s, %(target)s, c.name,
           date_trunc(c.name, clock_timestamp(), 'UTC'), %(more)s
      FROM unnest(%(users)s::{user_type}[], %(windows)s::text[]) WITH ORDINALITY AS c(user_id, name, n)
     ORDER BY c.n
    ON CONFLICT ON CONSTRAINT quota_use_once DO UPDATE SET used = u.used + EXCLUDED.used
    RETURNING u.user_id, u."window" AS name, u.used, u.starts_at
)
SELECT user_id, name, used, starts_at, clock_timestamp() FROM counted
