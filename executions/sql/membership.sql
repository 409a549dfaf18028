-- Return a user's role and permissions in one workspace; no row if the user is not a member. Most
-- requests run this statement.
SELECT role, permissions::json
  FROM executions_membership
 WHERE user_id = %(user)s AND workspace_id = %(workspace)s
