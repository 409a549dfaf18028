--! plan each time
-- Mark pending runs as unsent and due, because the broker did not accept their messages.
UPDATE runners_run r
   SET published_at = NULL, due_at = clock_timestamp()
  FROM unnest(%(executions)s::uuid[], %(segments)s::text[]) AS unsent (execution, segment)
 WHERE r.execution_id = unsent.execution AND r.segment = unsent.segment
   AND r.state = 'PENDING' AND r.published_at IS NOT NULL
RETURNING r.id
