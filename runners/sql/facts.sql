-- How given steps stand: the live, done and skipped ones by the identity index, then those that
-- failed for good. A step that was tried again after it died has a row of both kinds: the first
-- counts.
SELECT step_path, state, outcome, waits_for, progress::json, id
  FROM runners_run
 WHERE execution_id = %(execution)s AND epoch = %(epoch)s AND step_path = ANY(%(paths)s)
   AND state IN ('LEASED', 'PENDING', 'RUNNING', 'SKIPPED', 'SUCCESS', 'WAITING')
   AND NOT superseded
UNION ALL
SELECT step_path, state, outcome, '', NULL, id
  FROM runners_run
 WHERE execution_id = %(execution)s AND epoch = %(epoch)s AND state IN ('DLQ', 'FAILED')
   AND (state = 'DLQ' OR outcome = 'error') AND step_path = ANY(%(paths)s) AND NOT superseded
