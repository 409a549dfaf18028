-- Return the runs that these processes hold.
SELECT id FROM runners_run
 WHERE state = 'RUNNING' AND leased_by = ANY(%(holders)s)
 ORDER BY execution_id, step_path, attempt
