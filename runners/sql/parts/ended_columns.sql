-- The columns that the statement `end_execution` of the executions returns, for an execution `x`
-- that ended. The last one says whether it frees what others may wait for: a key, or a slot that is
-- limited.
x.parent_run_id, x.trigger_id, x.concurrency_key IS NOT NULL OR (
    SELECT t.max_concurrent IS NOT NULL
      FROM executions_workspace w
      JOIN executions_tier t ON t.id = w.tier_id
     WHERE w.id = x.workspace_id)
