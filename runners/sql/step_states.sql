--! one partition: execution
-- Return the states of the given steps. The identity index finds the live, successful and skipped
-- ones; `LIMIT` prevents the planner from reading the whole execution instead. The permanently
-- failed ones follow. A step that was tried again after it died has a row of both kinds: the first
-- row counts.
SELECT r.step_path, r.state, r.outcome, r.waits_for, r.progress::json, r.id
  FROM unnest(%(paths)s::text[]) AS asked (path),
       LATERAL (SELECT step_path, state, outcome, waits_for, progress, id
                  FROM runners_run
                 WHERE execution_id = %(execution)s AND epoch = %(epoch)s AND step_path = asked.path
                   AND state IN ('LEASED', 'PENDING', 'RUNNING', 'SKIPPED', 'SUCCESS', 'WAITING')
                   AND NOT superseded
                 LIMIT 1) r
UNION ALL
SELECT step_path, state, outcome, '', NULL, id
  FROM runners_run
 WHERE execution_id = %(execution)s AND epoch = %(epoch)s AND state IN ('DLQ', 'FAILED')
   AND (state = 'DLQ' OR outcome = 'error') AND step_path = ANY(%(paths)s) AND NOT superseded
