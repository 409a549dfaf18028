--! one partition: execution
-- Hold the live runs of an execution that moves to another version, whose lock the caller has: a
-- wake or a sweep that came first is seen, one that comes later waits and finds the run as moved.
SELECT id, state
  FROM runners_run
 WHERE execution_id = %(execution)s AND state IN ('LEASED', 'PENDING', 'RUNNING', 'WAITING')
 ORDER BY id
   FOR NO KEY UPDATE
