-- Of the sibling segments that came with one message, those that wait as they were inserted: the
-- claim compares their token. By the identity index, however many siblings there are.
SELECT id, step_path, attempt, budget_start
  FROM runners_run
 WHERE execution_id = %(execution)s AND epoch = %(epoch)s AND step_path = ANY(%(paths)s)
   AND state IN ('LEASED', 'PENDING', 'RUNNING', 'SKIPPED', 'SUCCESS', 'WAITING')
   AND NOT superseded AND (state = 'PENDING') IS TRUE
   AND lease_token = 0 AND segment = step_path AND waits_for = ''
   AND overrides IS NULL AND retry_after IS NULL AND heartbeat_details IS NULL
