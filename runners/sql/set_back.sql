--! one partition: execution
-- The turns of a container in which something had begun that the last roll-back undid. Runs queued
-- before the container's own are those of an earlier attempt of it.
SELECT DISTINCT substring(r.step_path FROM char_length(%(prefix)s) + 1
                          FOR position(']' IN substring(r.step_path
                                                        FROM char_length(%(prefix)s) + 1)) - 1)::int
  FROM runners_run r
  JOIN runners_run c ON c.id = %(run)s
    AND (c.execution_id = %(execution)s OR c.execution_id BETWEEN %(execution)s AND %(execution)s)
 WHERE r.execution_id = %(execution)s AND r.epoch = %(epoch)s - 1 AND r.superseded
   AND starts_with(r.step_path, %(prefix)s) AND r.queued_at >= c.queued_at
