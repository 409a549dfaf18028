--! one partition: execution
-- Return the indexes of a container's iterations that had started and that the last roll-back
-- undid. Runs that were queued before the container's own run belong to an earlier attempt of the
-- container.
SELECT DISTINCT substring(r.step_path FROM char_length(%(prefix)s) + 1
                          FOR position(']' IN substring(r.step_path
                                                        FROM char_length(%(prefix)s) + 1)) - 1)::int
  FROM runners_run r
  JOIN runners_run c ON c.id = %(run)s
    AND (c.execution_id = %(execution)s OR c.execution_id BETWEEN %(execution)s AND %(execution)s)
 WHERE r.execution_id = %(execution)s AND r.epoch = %(epoch)s - 1 AND r.superseded
   AND starts_with(r.step_path, %(prefix)s) AND r.queued_at >= c.queued_at
