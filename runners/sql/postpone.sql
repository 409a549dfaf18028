--! one partition: execution
-- A pending suspect for which this worker has no process to spare is sent again later. Its token
-- stays: nobody held it.
UPDATE runners_run r
   SET retry_after = clock_timestamp() + %(delay)s * interval '1 second',
       due_at = clock_timestamp() + %(delay)s * interval '1 second', published_at = NULL
 WHERE r.id = %(run)s
   AND (r.execution_id = %(execution)s OR r.execution_id BETWEEN %(execution)s AND %(execution)s)
   AND r.state = 'PENDING' AND r.lease_token = %(token)s
RETURNING r.id
