--! one partition: execution
-- Store a remote step's rendered inputs: from here on a runner can lease it. The token closes the
-- race with whoever took the run meanwhile; of two workers that render it the first counts.
UPDATE runners_run r
   SET inputs = %(inputs)s::jsonb,
       inputs_hash = %(inputs_hash)s,
       config_hash = %(config_hash)s,
       idempotency_key = %(key)s,
       secret_places = %(secret_places)s::jsonb
 WHERE r.id = %(run)s
   AND (r.execution_id = %(execution)s OR r.execution_id BETWEEN %(execution)s AND %(execution)s)
   AND r.lease_token = %(token)s
   AND (r.state = 'PENDING') IS TRUE AND r.secret_places IS NULL
RETURNING r.id
