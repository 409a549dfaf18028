-- A container's counters; the caller holds the execution's lock.
UPDATE runners_run
   SET progress = %(progress)s::jsonb
 WHERE id = %(run)s AND (state = 'WAITING') IS TRUE
