--! one partition: execution
-- How the given steps ended, those that have: first the done and skipped by the identity index
-- (`LIMIT` keeps the planner from reading the whole execution instead), then the failed ones whose
-- error edge was taken.
SELECT r.step_path, r.state, r.outcome
  FROM unnest(%(paths)s::text[]) AS asked (path),
       LATERAL (SELECT step_path, state, outcome
                  FROM runners_run
                 WHERE execution_id = %(execution)s AND epoch = %(epoch)s AND step_path = asked.path
                   AND state IN ('LEASED', 'PENDING', 'RUNNING', 'SKIPPED', 'SUCCESS', 'WAITING')
                   AND NOT superseded
                 LIMIT 1) r
 WHERE r.state IN ('SUCCESS', 'SKIPPED')
UNION ALL
SELECT step_path, state, outcome
  FROM runners_run
 WHERE execution_id = %(execution)s AND epoch = %(epoch)s AND state = 'FAILED'
   AND outcome = 'error' AND step_path = ANY(%(paths)s) AND NOT superseded
