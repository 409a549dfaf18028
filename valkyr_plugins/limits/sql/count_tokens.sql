-- Add tokens to the current windows of the token quotas of the workspace and of the execution's
-- principal. The rows are locked in one order, so that two such statements cannot deadlock. Only
-- limited windows are counted.
WITH used AS MATERIALIZED (
    SELECT * FROM json_to_recordset(%(used)s::json) AS u (model text, tokens numeric)
), limited AS (
    SELECT DISTINCT q.user_id, q.target, w.name
      FROM executions_quota q
      JOIN executions_workflowexecution e ON e.id = %(execution)s
       AND (q.user_id IS NULL OR q.user_id = e.principal_id)
     CROSS JOIN LATERAL (VALUES ('hour', q.max_per_hour), ('day', q.max_per_day)) AS w(name, most)
     WHERE q.workspace_id = %(workspace)s AND q.resource = 'tokens' AND w.most IS NOT NULL
)
INSERT INTO executions_quotause AS u
       (workspace_id, user_id, resource, target, "window", starts_at, used)
SELECT %(workspace)s, l.user_id, 'tokens', l.target, l.name,
       date_trunc(l.name, clock_timestamp(), 'UTC'), least(m.more, 9223372036854775807)
  FROM limited l
 CROSS JOIN LATERAL (
       SELECT sum(tokens) AS more FROM used WHERE l.target = '' OR l.target = model) AS m
 WHERE m.more > 0
 ORDER BY l.user_id NULLS FIRST, l.target, l.name
ON CONFLICT ON CONSTRAINT quota_use_once
DO UPDATE SET used = least(u.used::numeric + EXCLUDED.used, 9223372036854775807)
RETURNING u.used
