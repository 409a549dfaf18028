-- What a worker needs to know of an execution and its live run before it claims the run. `IS TRUE`
-- makes the planner find the results by the index of all runs of an execution.
SELECT e.state, e.epoch, e.started_at, e.principal_id,
       CASE WHEN %(want_input)s THEN e.trigger_payload::json END,
       CASE WHEN %(want_vars)s THEN e.context_data::json END,
       r.id, r.step_path, r.attempt, r.budget_start, r.state, r.lease_token, r.leased_by,
       r.crashes, r.suspect, r.overrides::json, r.heartbeat_details::json, r.priority,
       r.lease_until < clock_timestamp(),
       r.waits_for, r.wake::json, CASE WHEN r.wake IS NOT NULL THEN r.inputs::json END,
       r.inputs_hash,
       r.publications, e.trace_id, e.version_id,
       (SELECT k.id FROM executions_payloadkey k WHERE k.workspace_id = e.workspace_id AND k.seals),
       (SELECT json_agg(json_build_array(d.step_path, d.state, d.outcome, d.outputs, d.error,
                                         d.error_type))
          FROM runners_run d
         WHERE d.execution_id = e.id AND NOT d.superseded
           AND d.step_path = ANY(%(reads)s)
           AND (d.state IN ('SUCCESS', 'SKIPPED')
                OR (d.state = 'FAILED' AND d.outcome = 'error')) IS TRUE)
  FROM executions_workflowexecution e
  JOIN runners_run r ON r.execution_id = e.id AND r.epoch = e.epoch
