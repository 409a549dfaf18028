-- Stamp lost segments as sent once more; the wait until the next look doubles, up to ten minutes.
UPDATE runners_run r
   SET published_at = clock_timestamp(), publications = r.publications + 1,
       due_at = clock_timestamp() + least(600, %(patience)s * 2 ^ least(r.publications, 10))
                                    * interval '1 second'
  FROM executions_workflowexecution e
 WHERE r.id = ANY(%(runs)s) AND r.state = 'PENDING' AND e.id = r.execution_id
RETURNING r.execution_id, e.version_id, r.priority, r.segment, r.queue, r.step_path
