--! one partition: executions
-- Return the steps that executions have reached in their current epochs: the runs that the plan
-- takes into account. Each execution is read separately, by the index of all its runs.
SELECT asked.id, found.*
  FROM unnest(%(executions)s::uuid[]) AS asked (id),
       LATERAL (
SELECT r.step_path, r.state, r.outcome, r.module, r.waits_for, r.lease_token, r.attempt, r.id,
       r.segment
  FROM executions_workflowexecution e
  JOIN runners_run r ON r.execution_id = e.id AND r.epoch = e.epoch
 WHERE e.id = asked.id AND NOT r.superseded
   AND (r.state IN ('LEASED', 'PENDING', 'RUNNING', 'SKIPPED', 'SUCCESS', 'WAITING', 'DLQ')
        OR (r.state = 'FAILED' AND r.outcome = 'error'))
 ORDER BY r.id
       ) found
