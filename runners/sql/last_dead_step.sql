-- Return the path and error type of the dead step that ended last; no row if no step is dead. A
-- step that was tried again after it died does not count.
SELECT newest.step_path, newest.error_type
  FROM (SELECT DISTINCT ON (step_path) step_path, state, error_type, finished_at
          FROM runners_run
         WHERE execution_id = %(execution)s AND NOT superseded
         ORDER BY step_path, attempt DESC) newest
 WHERE newest.state = 'DLQ'
 ORDER BY newest.finished_at DESC
 LIMIT 1
