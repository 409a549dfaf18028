-- Return the columns of a workflow that a start needs, without the draft, and a user's role and
-- permissions in its workspace.
SELECT w.id, w.workspace_id, w.name, w.slug, w.enabled, w.revision, w.latest_version_id,
       w.canary_version_id, w.canary_percent,
       w.created_at, w.updated_at, w.archived_at, m.role, coalesce(m.permissions::json, '[]')
  FROM executions_workflow w
  LEFT JOIN executions_membership m ON m.workspace_id = w.workspace_id AND m.user_id = %(user)s
 WHERE w.id = %(id)s AND w.archived_at IS NULL
