--! one partition: executions
-- Insert runs of executions whose rows the caller has locked, or has inserted in this transaction.
-- Workers record pure steps that they have in memory without that lock. A step that got its run in
-- this way meanwhile keeps it. Return the IDs of the inserted runs.
INSERT INTO runners_run (
    id, execution_id, epoch, segment, step_path, task_id, module_id, module,
    attempt, budget_start, state, superseded, queue, priority, lease_token, leased_by, recoveries,
    idempotency_key, inputs_hash, config_hash, overrides, outcome, error, error_type,
    due_at, published_at, publications, queued_at, started_at, finished_at,
    cost_tokens, cost_amount
)
SELECT n.id, n.execution, n.epoch, n.segment, n.path, n.task, n.module_id, n.module,
       n.attempt, n.budget, n.state, false, n.queue, n.priority, 0, '', 0,
       '', '', coalesce(n.config_hash, ''), n.overrides, '', '', '',
       CASE WHEN n.state = 'PENDING'
            THEN clock_timestamp() + %(patience)s * interval '1 second' END,
       CASE WHEN n.state = 'PENDING' THEN clock_timestamp() END,
       CASE WHEN n.state = 'PENDING' THEN 1 ELSE 0 END,
       clock_timestamp(),
       CASE WHEN n.state = 'SKIPPED' THEN clock_timestamp() END,
       CASE WHEN n.state = 'SKIPPED' THEN clock_timestamp() END,
       0, 0
  FROM json_to_recordset(%(rows)s::json) AS n (
       id uuid, execution uuid, epoch int, priority int, state text, segment text, path text,
       task uuid, module_id uuid, module text, attempt int, budget int, queue text,
       config_hash text, overrides jsonb)
ON CONFLICT (execution_id, epoch, step_path)
      WHERE state IN ('LEASED', 'PENDING', 'RUNNING', 'SKIPPED', 'SUCCESS', 'WAITING')
        AND NOT superseded
   DO NOTHING
RETURNING id
