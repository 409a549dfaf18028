--! one partition: execution
-- Record a segment's last step, which inserts no runs, and claim a pending sibling that came with
-- the same message: `record` and `claim` in one statement.
-- Races that this prevents, besides those that `record` names:
--  * a sibling that another worker took, because its message came twice or its run was released:
--    its token must still be 0 and its state PENDING. Otherwise only the result is recorded;
--  * a pause or cancellation that commits meanwhile: the claim selects FROM the fenced update,
--    which read the execution after locking it.
-- Always returns one row: (recorded, claimed).
--+ fenced
    RETURNING r.id, r.execution_id, e.state AS execution_state, e.place
), claimed AS (
    UPDATE runners_run r
       SET state = 'RUNNING',
           lease_token = 1,
           leased_by = %(holder)s,
           lease_until = clock_timestamp() + %(lease)s * interval '1 second',
           due_at = clock_timestamp() + %(lease)s * interval '1 second',
           heartbeat_at = clock_timestamp(),
           started_at = clock_timestamp(),
           deadline_at = clock_timestamp() + %(timeout)s * interval '1 second',
           inputs = %(inputs)s::jsonb,
           inputs_hash = %(inputs_hash)s,
           config_hash = %(config_hash)s,
           idempotency_key = %(key)s
      FROM fenced f
     WHERE r.id = %(next)s
       AND (r.execution_id = %(execution)s OR r.execution_id BETWEEN %(execution)s AND %(execution)s)
       AND r.execution_id = f.execution_id
       AND f.execution_state = 'RUNNING' AND f.place = 'HELD'
       AND (r.state = 'PENDING') IS TRUE AND r.lease_token = 0 AND r.retry_after IS NULL
    RETURNING r.id
)
SELECT (SELECT count(*) FROM fenced), (SELECT count(*) FROM claimed)
