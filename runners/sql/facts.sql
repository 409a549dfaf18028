-- The newest attempt of every step that has one: what a plan of the whole execution is made from.
SELECT DISTINCT ON (step_path) step_path, state, outcome
  FROM runners_run
 WHERE execution_id = %(execution)s AND epoch = %(epoch)s AND NOT superseded
 ORDER BY step_path, attempt DESC
