-- Return which workspaces limit what steps spend or do: one row for each kind, workspace and
-- target. There are usually few rows; each process reads them at most once a second.
SELECT 'budget' AS kind, workspace_id, '' AS target FROM runners_budget GROUP BY workspace_id
UNION ALL
SELECT 'kill', workspace_id, '' FROM runners_budget WHERE kill_switch GROUP BY workspace_id
UNION ALL
SELECT resource, workspace_id, CASE resource WHEN 'module' THEN target ELSE '' END
  FROM executions_quota
 WHERE resource IN ('module', 'tokens')
 GROUP BY 1, 2, 3
