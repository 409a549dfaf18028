-- Return an API token by its digest: the current time, all columns of the token, and all columns of
-- its user, in the models' order.
SELECT clock_timestamp(), t.id, t.workspace_id, t.user_id, t.name, t.prefix, t.digest,
       t.scopes::json, t.expires_at, t.revoked_at, t.last_used_at, t.last_used_from, t.created_by,
       t.created_at,
       {user_columns}
  FROM executions_apitoken t
  JOIN {user_table} u ON u.{user_key} = t.user_id
 WHERE t.digest = %(digest)s
