--! plan each time
-- Of dead runs those that are their step's newest attempt, in their execution's present epoch.
SELECT r.id, r.execution_id, r.step_path, r.attempt, r.overrides::json
  FROM runners_run r
  JOIN executions_workflowexecution e ON e.id = r.execution_id AND e.epoch = r.epoch
 WHERE r.id = ANY(%(ids)s) AND (r.state = 'DLQ') IS TRUE AND NOT r.superseded
   AND NOT EXISTS (SELECT 1
                     FROM runners_run n
                    WHERE n.execution_id = r.execution_id AND n.epoch = r.epoch
                      AND n.step_path = r.step_path AND n.attempt > r.attempt
                      AND NOT n.superseded)
