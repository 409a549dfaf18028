--! plan each time
-- Renew the leases of steps that are running now, at most until their deadline and the grace
-- period. No indexed column changes, so that the new row version stays in its page. A run that is
-- not returned was cancelled, timed out or taken over; its step must stop.
UPDATE runners_run r
   SET lease_until = least(clock_timestamp() + %(lease)s * interval '1 second',
                           r.deadline_at + %(grace)s * interval '1 second'),
       heartbeat_at = clock_timestamp(),
       heartbeat_details = coalesce(held.details::jsonb, r.heartbeat_details)
  FROM unnest(%(runs)s::uuid[], %(executions)s::uuid[], %(tokens)s::int[], %(details)s::text[])
       AS held (id, execution, token, details)
 WHERE r.id = held.id
   AND (r.execution_id = held.execution OR r.execution_id BETWEEN held.execution AND held.execution)
   AND r.lease_token = held.token AND (r.state = 'RUNNING') IS TRUE
RETURNING r.id
