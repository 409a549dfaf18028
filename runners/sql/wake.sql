--! plan each time
-- Wake waiting runs: store the cause, and set the runs to pending, so that the caller can send
-- them. Only the body of a container wakes it. A run that no longer waits for one of `kinds` is not
-- changed, so a second call does no harm. The stored cause includes the duration of the wait, in
-- seconds.
WITH woken AS (
    UPDATE runners_run r
       SET state = 'PENDING', retry_after = NULL,
           wake = coalesce(
               (%(sealed)s::text[])[array_position(%(runs)s::uuid[], r.id)]::jsonb,
               %(wake)s::jsonb) || jsonb_build_object('waitedSeconds', round(
               extract(epoch FROM clock_timestamp() - r.started_at)::numeric, 3)),
           published_at = clock_timestamp(), publications = 1,
           due_at = clock_timestamp() + %(patience)s * interval '1 second'
      FROM unnest(%(runs)s::uuid[], %(executions)s::uuid[]) AS due (run, execution)
      JOIN executions_workflowexecution e ON e.id = due.execution
     WHERE r.id = due.run
       AND (r.execution_id = due.execution OR r.execution_id BETWEEN due.execution AND due.execution)
       AND (r.state = 'WAITING') IS TRUE AND r.waits_for = ANY(%(kinds)s)
       AND e.epoch = r.epoch
       AND (e.state IN ('PAUSED', 'RUNNING')) IS TRUE
    RETURNING r.id, r.execution_id, e.version_id, r.priority, r.segment, r.queue, r.step_path,
              e.state = 'RUNNING' AND e.place = 'HELD' AS ready
), listened AS (
    DELETE FROM runners_waiter w USING woken k WHERE w.run_id = k.id
)
SELECT execution_id, version_id, priority, segment, queue, step_path, ready, id FROM woken
