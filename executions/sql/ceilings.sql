-- What limits the executions of a workspace: its tier. Who adds limits selects these columns first.
SELECT t.name, t.max_concurrent, t.max_pending, t.max_per_hour, t.max_per_day,
       w.archived_at IS NOT NULL
  FROM executions_workspace w
  JOIN executions_tier t ON t.id = w.tier_id
 WHERE w.id = %(workspace)s
