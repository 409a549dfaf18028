--! plan each time
-- Stamp lost segments as sent once more; the wait until the next look doubles, up to ten minutes.
-- It doubles what passed since the segment was last sent, too: messages that came to a worker, which
-- then died, are counted as sent, but were not lost.
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
