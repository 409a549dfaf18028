-- The execution of a run that is known by its id alone, as in the notes of a process that crashed.
SELECT execution_id FROM runners_run WHERE id = %(run)s
