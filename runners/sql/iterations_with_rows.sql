--! one partition: execution
-- Return the indexes of a container's iterations that have rows. After a roll-back, the container's
-- counters are rebuilt from them.
SELECT DISTINCT substring(step_path FROM char_length(%(prefix)s) + 1
                          FOR position(']' IN substring(step_path FROM char_length(%(prefix)s) + 1))
                              - 1)::int
  FROM runners_run
 WHERE execution_id = %(execution)s AND epoch = %(epoch)s AND NOT superseded
   AND starts_with(step_path, %(prefix)s)
