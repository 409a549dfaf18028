--! one partition: execution
-- Wake a container whose body has ended; the caller holds the execution's lock.
UPDATE runners_run
   SET state = 'PENDING', progress = %(progress)s::jsonb, wake = %(wake)s::jsonb,
       published_at = clock_timestamp(), publications = 1,
       due_at = clock_timestamp() + %(patience)s * interval '1 second'
 WHERE id = %(run)s
   AND (execution_id = %(execution)s OR execution_id BETWEEN %(execution)s AND %(execution)s)
   AND (state = 'WAITING') IS TRUE
RETURNING segment, queue, step_path
