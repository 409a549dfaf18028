--! plan each time
-- Record that lost segments are sent again. The wait until the next check doubles each time, up to
-- ten minutes. It is also at most twice the time since the segment was last sent, because
-- `publications` also counts messages that were not lost: they reached a worker that then died.
UPDATE runners_run r
   SET published_at = clock_timestamp(), publications = r.publications + 1,
       due_at = clock_timestamp() + least(
           interval '600 seconds',
           %(patience)s * 2 ^ least(r.publications, 10) * interval '1 second',
           2 * greatest(%(patience)s * interval '1 second', clock_timestamp() - r.published_at))
  FROM unnest(%(runs)s::uuid[], %(executions)s::uuid[]) AS lost (run, execution)
  JOIN executions_workflowexecution e ON e.id = lost.execution
 WHERE r.id = lost.run
   AND (r.execution_id = lost.execution OR r.execution_id BETWEEN lost.execution AND lost.execution)
   AND (r.state = 'PENDING') IS TRUE
RETURNING r.execution_id, e.version_id, r.priority, r.segment, r.queue, r.step_path
