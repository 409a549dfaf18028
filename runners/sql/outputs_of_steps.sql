--! one partition: execution
-- Return the outputs of those given steps that succeeded. The identity index finds each step;
-- `LIMIT` prevents the planner from reading the whole execution instead.
SELECT r.step_path, r.outputs::json
  FROM unnest(%(paths)s::text[]) AS asked (path),
       LATERAL (SELECT step_path, state, outputs
                  FROM runners_run
                 WHERE execution_id = %(execution)s AND epoch = %(epoch)s AND step_path = asked.path
                   AND state IN ('LEASED', 'PENDING', 'RUNNING', 'SKIPPED', 'SUCCESS', 'WAITING')
                   AND NOT superseded
                 LIMIT 1) r
 WHERE r.state = 'SUCCESS'
