--! one partition: execution
-- Store the rendered inputs of a remote step; from now on, a runner can lease the run. The token
-- must match, so that this fails if another process took the run meanwhile. If two workers render
-- the inputs, the first result is stored.
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
