--! one partition: execution
-- Mark a remote runner's leased run as RUNNING, so that this transaction can record its result. The
-- caller holds the execution's lock. If the lease is over, no run is changed. Return the holder,
-- the inputs' hash, the idempotency key, and the duration in milliseconds.
UPDATE runners_run r
   SET state = 'RUNNING', started_at = coalesce(r.started_at, r.heartbeat_at)
 WHERE r.id = %(run)s
   AND (r.execution_id = %(execution)s OR r.execution_id BETWEEN %(execution)s AND %(execution)s)
   AND r.lease_token = %(token)s AND (r.state IN ('LEASED', 'RUNNING')) IS TRUE
   AND r.lease_until >= clock_timestamp()
RETURNING r.leased_by, r.inputs_hash, r.idempotency_key,
          1000 * extract(epoch FROM clock_timestamp() - r.started_at)::float8
