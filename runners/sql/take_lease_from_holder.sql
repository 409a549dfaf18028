--! one partition: execution
-- Take the lease of a live run, to end or suspend it on behalf of its holder, which is fenced from
-- now on.
WITH seized AS (
    UPDATE runners_run r
       SET state = 'RUNNING',
           lease_token = r.lease_token + 1,
           leased_by = %(holder)s,
           crashes = r.crashes + %(crashed)s,
           crash_cause = CASE WHEN %(crashed)s > 0 THEN %(cause)s ELSE r.crash_cause END,
           lease_until = clock_timestamp() + interval '20 seconds',
           started_at = coalesce(r.started_at, clock_timestamp())
     WHERE r.id = %(run)s
       AND (r.execution_id = %(execution)s OR r.execution_id BETWEEN %(execution)s AND %(execution)s)
       AND r.lease_token = %(token)s
       AND r.state IN ('PENDING', 'LEASED', 'RUNNING', 'WAITING')
    RETURNING r.id, r.lease_token
), forgotten AS (
    DELETE FROM runners_waiter w USING seized s WHERE w.run_id = s.id
)
SELECT lease_token FROM seized
