-- What `finish` of the executions answers, of an execution `x` that ended: also whether it lets go of
-- what others may wait for, a key or a place that is counted.
x.parent_run_id, x.trigger_id, x.concurrency_key IS NOT NULL OR (
    SELECT t.max_concurrent IS NOT NULL
      FROM executions_workspace w
      JOIN executions_tier t ON t.id = w.tier_id
     WHERE w.id = x.workspace_id)
