-- Return a user's memberships as (workspace, role, permissions, NULL), and the object permissions
-- of the user and the user's groups as (NULL, code, [], workflow).
SELECT workspace_id, role, permissions::json, NULL::uuid
  FROM executions_membership
 WHERE user_id = %(user)s
 UNION ALL
SELECT NULL, p.codename, '[]', g.content_object_id
  FROM executions_workflowuserpermission g
  JOIN auth_permission p ON p.id = g.permission_id
 WHERE g.user_id = %(user)s
 UNION ALL
SELECT NULL, p.codename, '[]', g.content_object_id
  FROM {user_groups} m
  JOIN executions_workflowgrouppermission g ON g.group_id = m.group_id
  JOIN auth_permission p ON p.id = g.permission_id
 WHERE m.user_id = %(user)s
 LIMIT %(most)s
