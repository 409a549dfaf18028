--! plan each time
-- Return what the filters of waiting runs may read of their executions; payloads only if a filter
-- reads them.
SELECT e.id, e.epoch, e.priority, e.started_at,
       CASE WHEN %(want_input)s THEN e.trigger_payload::json END,
       CASE WHEN %(want_vars)s THEN e.context_data::json END
  FROM executions_workflowexecution e
 WHERE e.id = ANY(%(executions)s)
