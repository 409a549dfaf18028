-- Return the limits of a workspace's executions: its tier, whether it is archived, and the key that
-- seals its payloads. A statement that adds limits selects these columns first.
SELECT t.name, t.max_concurrent, t.max_pending, t.max_per_hour, t.max_per_day,
       w.archived_at IS NOT NULL,
       (SELECT k.id FROM executions_payloadkey k WHERE k.workspace_id = w.id AND k.seals)
  FROM executions_workspace w
  JOIN executions_tier t ON t.id = w.tier_id
 WHERE w.id = %(workspace)s
