--! plan each time
-- Return those of the given dead runs that are the newest attempts of their steps, in the current
-- epochs of their executions.
SELECT r.id, r.execution_id, r.step_path, r.attempt, r.overrides::json
  FROM unnest(%(runs)s::uuid[], %(executions)s::uuid[]) AS asked (run, execution)
  JOIN runners_run r
    ON r.id = asked.run
    AND (r.execution_id = asked.execution OR r.execution_id BETWEEN asked.execution AND asked.execution)
  JOIN executions_workflowexecution e ON e.id = r.execution_id AND e.epoch = r.epoch
 WHERE (r.state = 'DLQ') IS TRUE AND NOT r.superseded
   AND NOT EXISTS (SELECT 1
                     FROM runners_run n
                    WHERE n.execution_id = r.execution_id AND n.epoch = r.epoch
                      AND n.step_path = r.step_path AND n.attempt > r.attempt
                      AND NOT n.superseded)
