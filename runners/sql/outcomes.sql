--! one partition: execution
-- Return the outcomes of those given steps that have ended. The identity index finds the successful
-- and skipped ones; `LIMIT` prevents the planner from reading the whole execution instead. The
-- failed ones whose `error` edge was taken follow.
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
