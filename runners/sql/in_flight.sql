--! one partition: execution
-- Whether anything in the execution moves or will by itself; containers only hold what does.
SELECT EXISTS (
    SELECT 1
      FROM runners_run
     WHERE execution_id = %(execution)s
       AND state IN ('LEASED', 'PENDING', 'RUNNING', 'WAITING')
       AND (state <> 'WAITING' OR waits_for <> 'body'))
