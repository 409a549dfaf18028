--! one partition: execution
-- Store a container's counters; the caller holds the execution's lock.
UPDATE runners_run
   SET progress = %(progress)s::jsonb
 WHERE id = %(run)s
   AND (execution_id = %(execution)s OR execution_id BETWEEN %(execution)s AND %(execution)s)
   AND (state = 'WAITING') IS TRUE
