-- Put a held run back to pending; its holder is fenced by the grown token.
UPDATE runners_run r
   SET state = 'PENDING', lease_token = r.lease_token + 1, leased_by = '', lease_until = NULL,
       recoveries = r.recoveries + %(crashed)s, retry_after = NULL,
       published_at = clock_timestamp(), publications = r.publications + 1,
       due_at = clock_timestamp() + %(patience)s * interval '1 second'
  FROM executions_workflowexecution e
 WHERE r.id = %(run)s AND e.id = r.execution_id
   AND r.state IN ('LEASED', 'RUNNING') AND r.lease_token = %(token)s
RETURNING r.execution_id, e.version_id, r.priority, r.segment, r.queue, r.step_path
