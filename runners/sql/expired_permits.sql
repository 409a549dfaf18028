-- Return permits whose lease is over, and how the run ended if this lease recorded it.
--  * Another holder has the run, or none has it, or it was deleted: the lease expired before.
--  * The run ended under this token: the holder of the lease reported it.
--  * Another process ended the run. The remote runner may continue until it learns this, at the
--    latest until the lease would have expired.
SELECT h.id, h.gate, h.run_id, h.token, h.kept::json,
       r.lease_token IS NOT DISTINCT FROM h.token AS own,
       coalesce(r.state, ''), coalesce(r.error_type, ''), coalesce(r.error, '')
  FROM runners_heldpermit h
  LEFT JOIN LATERAL (
       SELECT o.id, o.lease_token, o.state, o.error_type, o.error, o.finished_at, o.heartbeat_at,
              o.deadline_at
         FROM runners_run o
        WHERE o.id = h.run_id
        LIMIT 1) r ON true
 WHERE CASE WHEN r.id IS NULL THEN true
            WHEN r.lease_token = h.token THEN r.state NOT IN ('LEASED', 'RUNNING')
            WHEN r.finished_at IS NULL THEN true
            ELSE coalesce(least(r.heartbeat_at + %(lease)s * interval '1 second',
                                r.deadline_at + %(grace)s * interval '1 second')
                          <= clock_timestamp(), true)
       END
 ORDER BY h.id
 LIMIT %(batch)s
