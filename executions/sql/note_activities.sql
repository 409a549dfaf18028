--! plan each time
-- Insert rows of one actor into the audit trail.
-- lines: a JSON array of ID, workspace, action, object_type, object_id, reason, before, after,
-- details.
INSERT INTO executions_activity (
    id, workspace_id, actor_id, actor_name, via, address, action, object_type, object_id,
    reason, before, after, details
)
SELECT l.id, l.workspace, %(actor)s, %(actor_name)s, %(via)s, %(address)s::inet, l.action,
       l.object_type, l.object_id, l.reason, l.before, l.after, l.details
  FROM jsonb_to_recordset(%(lines)s::jsonb) AS l (
       id uuid, workspace uuid, action text, object_type text, object_id text, reason text,
       before jsonb, after jsonb, details jsonb
  )
