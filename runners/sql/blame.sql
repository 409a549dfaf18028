-- The dead step that ended last, if a step is dead and was not tried again.
SELECT newest.step_path, newest.error_type
  FROM (SELECT DISTINCT ON (step_path) step_path, state, error_type, finished_at
          FROM runners_run
         WHERE execution_id = %(execution)s AND NOT superseded
         ORDER BY step_path, attempt DESC) newest
 WHERE newest.state = 'DLQ'
 ORDER BY newest.finished_at DESC
 LIMIT 1
