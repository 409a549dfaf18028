-- Lease reserved runs that the caller has locked and that have passed their gates. Their time
-- begins now, right before they are sent to the runner.
UPDATE runners_run r
   SET state = 'LEASED',
       leased_by = n.holder,
       heartbeat_at = clock_timestamp(),
       started_at = NULL,
       deadline_at = clock_timestamp() + n.timeout * interval '1 second',
       lease_until = clock_timestamp() + least(%(lease)s, n.timeout + %(grace)s)
                                         * interval '1 second',
       due_at = clock_timestamp() + least(%(lease)s, n.timeout + %(grace)s) * interval '1 second'
  FROM json_to_recordset(%(rows)s::json) AS n (
       id uuid, execution uuid, token int, holder text, timeout float8)
 WHERE r.id = n.id
   AND (r.execution_id = n.execution OR r.execution_id BETWEEN n.execution AND n.execution)
   AND r.lease_token = n.token AND (r.state = 'PENDING') IS TRUE
RETURNING r.id
