--! one partition: execution
-- Return those sibling segments of one message that are pending and unchanged since they were
-- inserted: the claim compares their token. The identity index finds each, however many there are;
-- `LIMIT` prevents the planner from reading the whole execution instead.
SELECT r.id, r.step_path, r.attempt, r.budget_start
  FROM unnest(%(paths)s::text[]) AS asked (path),
       LATERAL (SELECT *
                  FROM runners_run
                 WHERE execution_id = %(execution)s AND epoch = %(epoch)s AND step_path = asked.path
                   AND state IN ('LEASED', 'PENDING', 'RUNNING', 'SKIPPED', 'SUCCESS', 'WAITING')
                   AND NOT superseded
                 LIMIT 1) r
 WHERE r.state = 'PENDING' AND r.lease_token = 0 AND r.segment = r.step_path AND r.waits_for = ''
   AND r.overrides IS NULL AND r.retry_after IS NULL AND r.heartbeat_details IS NULL
