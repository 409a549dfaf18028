-- Return the execution of a run of which only the ID is known, as in the notes of a process that
-- crashed.
SELECT execution_id FROM runners_run WHERE id = %(run)s
