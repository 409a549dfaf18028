-- What a person is in one workspace, asked by most requests; no row for who is no member.
SELECT role, permissions::json
  FROM executions_membership
 WHERE user_id = %(user)s AND workspace_id = %(workspace)s
