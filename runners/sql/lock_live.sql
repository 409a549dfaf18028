--! one partition: execution
-- Lock the live runs of an execution that moves to another version; the caller holds the
-- execution's lock. A wake or a sweep that came first is visible. One that comes later waits, and
-- finds the run already moved.
SELECT id, state
  FROM runners_run
 WHERE execution_id = %(execution)s AND state IN ('LEASED', 'PENDING', 'RUNNING', 'WAITING')
 ORDER BY id
   FOR NO KEY UPDATE
