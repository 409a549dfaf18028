--! one partition: execution
-- Return whether the execution has a live run, except containers that wait for their bodies.
SELECT EXISTS (
    SELECT 1
      FROM runners_run
     WHERE execution_id = %(execution)s
       AND state IN ('LEASED', 'PENDING', 'RUNNING', 'WAITING')
       AND (state <> 'WAITING' OR waits_for <> 'body'))
