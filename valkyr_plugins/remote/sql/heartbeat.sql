-- Renew the lease of a remote runner, at most until the run's deadline and the grace period; the
-- first heartbeat begins the run. A lease that is over is not renewed, even if no other runner has
-- taken the run.
WITH beat AS (
    UPDATE runners_run r
       SET state = 'RUNNING',
           started_at = coalesce(r.started_at, clock_timestamp()),
           lease_until = least(clock_timestamp() + %(lease)s * interval '1 second',
                               r.deadline_at + %(grace)s * interval '1 second'),
           heartbeat_at = clock_timestamp(),
           heartbeat_details = coalesce(%(details)s::jsonb, r.heartbeat_details)
     WHERE r.id = %(run)s
       AND (r.execution_id = %(execution)s OR r.execution_id BETWEEN %(execution)s AND %(execution)s)
       AND r.lease_token = %(token)s AND (r.state IN ('LEASED', 'RUNNING')) IS TRUE
       AND r.deadline_at IS NOT NULL AND r.lease_until >= clock_timestamp()
    RETURNING r.lease_until, r.leased_by
), seen AS (
    UPDATE runners_runner n
       SET seen_at = clock_timestamp()
      FROM beat b
     WHERE n.name = b.leased_by AND n.pool = 'remote'
       AND n.seen_at < clock_timestamp() - interval '5 seconds'
)
SELECT lease_until FROM beat
