-- How the given steps ended, those that have: first the done and skipped (by the identity index),
-- then the failed ones whose error edge was taken.
SELECT step_path, state, outcome
  FROM runners_run
 WHERE execution_id = %(execution)s AND epoch = %(epoch)s AND step_path = ANY(%(paths)s)
   AND state IN ('SUCCESS', 'SKIPPED') AND NOT superseded
UNION ALL
SELECT step_path, state, outcome
  FROM runners_run
 WHERE execution_id = %(execution)s AND epoch = %(epoch)s AND state = 'FAILED'
   AND outcome = 'error' AND step_path = ANY(%(paths)s) AND NOT superseded
