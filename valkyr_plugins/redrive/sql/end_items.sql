-- Move items to their final states, and no longer hold their dead letters.
UPDATE dlq_redriveitem i
   SET state = n.state, reason = n.reason, again_id = n.again, active = NULL,
       ended_at = clock_timestamp()
  FROM unnest(%(ids)s::bigint[], %(states)s::text[], %(reasons)s::text[], %(again)s::uuid[])
       AS n(id, state, reason, again)
 WHERE i.id = n.id AND i.state IN ('QUEUED', 'RUNNING')
RETURNING i.id
