--! one partition: execution
-- Return whether a step inside a container is dead and was not tried again.
SELECT EXISTS (
    SELECT 1
      FROM runners_run d
     WHERE d.execution_id = %(execution)s AND d.epoch = %(epoch)s AND d.state = 'DLQ'
       AND NOT d.superseded AND starts_with(d.step_path, %(prefix)s)
       AND NOT EXISTS (
           SELECT 1 FROM runners_run n
            WHERE n.execution_id = d.execution_id AND n.epoch = d.epoch
              AND n.step_path = d.step_path AND n.attempt > d.attempt AND NOT n.superseded))
