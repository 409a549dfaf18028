--! one partition: execution
-- The turns of a container that have rows: what its counters are made from again after a roll-back.
SELECT DISTINCT substring(step_path FROM char_length(%(prefix)s) + 1
                          FOR position(']' IN substring(step_path FROM char_length(%(prefix)s) + 1))
                              - 1)::int
  FROM runners_run
 WHERE execution_id = %(execution)s AND epoch = %(epoch)s AND NOT superseded
   AND starts_with(step_path, %(prefix)s)
