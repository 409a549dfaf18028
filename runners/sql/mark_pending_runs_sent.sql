--! one partition: execution
-- Return the pending runs of an execution that are due, and mark them as sent again, because the
-- execution continues.
UPDATE runners_run
   SET published_at = clock_timestamp(), publications = publications + 1,
       due_at = clock_timestamp() + %(patience)s * interval '1 second'
 WHERE execution_id = %(execution)s AND state = 'PENDING'
   AND (retry_after IS NULL OR retry_after <= clock_timestamp())
RETURNING segment, queue, step_path
