--! one partition: execution
-- Send a pending suspect again later, because this worker has no free process for it. The token
-- does not change, because no process held the run.
UPDATE runners_run r
   SET retry_after = clock_timestamp() + %(delay)s * interval '1 second',
       due_at = clock_timestamp() + %(delay)s * interval '1 second', published_at = NULL
 WHERE r.id = %(run)s
   AND (r.execution_id = %(execution)s OR r.execution_id BETWEEN %(execution)s AND %(execution)s)
   AND r.state = 'PENDING' AND r.lease_token = %(token)s
RETURNING r.id
