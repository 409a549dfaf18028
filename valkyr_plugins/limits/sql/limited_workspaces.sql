-- Where anything limits what steps spend or do: a row a kind, workspace and target. Nearly always
-- a few rows, read at most once a second a process.
SELECT 'budget' AS kind, workspace_id, '' AS target FROM runners_budget GROUP BY workspace_id
UNION ALL
SELECT 'kill', workspace_id, '' FROM runners_budget WHERE kill_switch GROUP BY workspace_id
UNION ALL
SELECT resource, workspace_id, CASE resource WHEN 'module' THEN target ELSE '' END
  FROM executions_quota
 WHERE resource IN ('module', 'tokens')
 GROUP BY 1, 2, 3
