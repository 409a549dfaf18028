-- Insert a row into the audit trail.
INSERT INTO executions_activity (
    id, workspace_id, actor_id, actor_name, via, address, action, object_type, object_id,
    reason, before, after, details
) VALUES (
    %(id)s, %(workspace)s, %(actor)s, %(actor_name)s, %(via)s, %(address)s::inet, %(action)s,
    %(object_type)s, %(object_id)s, %(reason)s, %(before)s::jsonb, %(after)s::jsonb,
    %(details)s::jsonb
)
