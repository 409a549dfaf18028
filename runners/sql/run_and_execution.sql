--! one partition: execution
-- Return a run of its execution's current epoch, and the execution. Callers use this before they
-- end, suspend or release the run on behalf of its holder.
SELECT r.epoch, r.step_path, r.segment, r.attempt, r.budget_start, r.state,
       r.lease_token, r.leased_by, r.overrides::json, r.crashes, e.state, e.version_id,
       e.priority,
       r.state = 'WAITING' AND r.waits_for = 'body'
  FROM runners_run r JOIN executions_workflowexecution e ON e.id = r.execution_id
 WHERE r.id = %(run)s
   AND (r.execution_id = %(execution)s OR r.execution_id BETWEEN %(execution)s AND %(execution)s)
   AND r.epoch = e.epoch
