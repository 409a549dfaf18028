-- Count the dead letters that a redrive would skip, by reason; '' stands for those that would run.
-- With `step`, their executions and runs are checked too.
SELECT looked.reason, count(*)
  FROM (SELECT CASE
               WHEN d.resolution <> 'PENDING'
               THEN 'The dead letter was already ' || lower(d.resolution) || '.'
               WHEN EXISTS (SELECT 1
                              FROM dlq_redriveitem o
                             WHERE o.entry_id = i.entry_id AND o.active
                               AND o.redrive_id <> %(redrive)s)
               THEN 'Another redrive holds the dead letter.'
               WHEN %(step)s AND e.state IN ('CANCELLED', 'SUCCESS', 'TIMEOUT')
               THEN CASE e.state
                    WHEN 'CANCELLED' THEN 'The execution was cancelled.'
                    WHEN 'SUCCESS' THEN 'The execution succeeded.'
                    ELSE 'The execution timed out.'
                    END || ' Redrive the whole execution instead.'
               WHEN %(step)s AND (r.superseded OR r.epoch <> e.epoch OR EXISTS (
                        SELECT 1
                          FROM runners_run n
                         WHERE n.execution_id = e.id AND n.epoch = e.epoch
                           AND n.step_path = d.step_path AND n.attempt > r.attempt
                           AND NOT n.superseded))
               THEN 'The step has run again since, or was rolled back.'
               WHEN NOT %(step)s AND d.workflow_id = ANY(%(gone)s::uuid[])
               THEN 'The workflow has no such version.'
               ELSE '' END AS reason
          FROM unnest(%(entries)s::uuid[]) AS i (entry_id)
          JOIN dlq_deadletterentry d ON d.id = i.entry_id
          JOIN executions_workflowexecution e ON e.id = d.execution_id
          JOIN runners_run r ON r.id = d.run_id) looked
 GROUP BY looked.reason
 ORDER BY count(*) DESC, looked.reason
