-- Claim the run for this process, if its execution continues (`execution`) and the row has not
-- changed since it was read.
UPDATE runners_run r
   SET state = 'RUNNING',
       lease_token = r.lease_token + 1,
       leased_by = %(holder)s,
       lease_until = clock_timestamp() + %(lease)s * interval '1 second',
       due_at = clock_timestamp() + %(lease)s * interval '1 second',
       heartbeat_at = clock_timestamp(),
       started_at = CASE WHEN r.waits_for = '' THEN clock_timestamp()
                         ELSE coalesce(r.started_at, clock_timestamp()) END,
       deadline_at = clock_timestamp() + %(timeout)s * interval '1 second',
       recoveries = r.recoveries + %(lost)s,
       crashes = r.crashes + %(crashed)s,
       crash_cause = CASE WHEN %(crashed)s > 0 THEN %(cause)s ELSE r.crash_cause END,
       suspect = r.suspect OR %(suspect)s,
       inputs = %(inputs)s::jsonb,
       inputs_hash = %(inputs_hash)s,
       config_hash = %(config_hash)s,
       idempotency_key = %(key)s
  FROM execution e
 WHERE r.id = %(run)s
   AND (r.execution_id = %(execution)s OR r.execution_id BETWEEN %(execution)s AND %(execution)s)
   AND r.execution_id = e.id
   AND r.lease_token = %(token)s
   AND (
        ((r.state = 'PENDING') IS TRUE AND (r.retry_after IS NULL OR r.retry_after <= clock_timestamp()))
     OR ((r.state = 'RUNNING') IS TRUE AND (r.lease_until < clock_timestamp() OR %(holder_gone)s))
   )
RETURNING r.lease_token, extract(epoch FROM clock_timestamp() - r.published_at)::float8
