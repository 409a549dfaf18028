-- Store what leased runs are to be done with, before anybody learns of it; from here on their time
-- counts. A run that is not returned was taken back meanwhile. They are locked in the order of their
-- ids, and waited for: others who lease look at them in passing, and lock them for a moment.
WITH free AS MATERIALIZED (
    SELECT n.id, n.timeout, n.inputs, n.inputs_hash, n.config_hash, n.key
      FROM json_to_recordset(%(rows)s::json) AS n (
           id uuid, token int, timeout float8, inputs jsonb, inputs_hash text, config_hash text,
           key text)
      JOIN runners_run r ON r.id = n.id
     WHERE r.lease_token = n.token AND (r.state = 'LEASED') IS TRUE
     ORDER BY r.id
       FOR UPDATE OF r
)
UPDATE runners_run r
   SET inputs = f.inputs,
       inputs_hash = f.inputs_hash,
       config_hash = f.config_hash,
       idempotency_key = f.key,
       deadline_at = clock_timestamp() + f.timeout * interval '1 second',
       lease_until = clock_timestamp() + least(%(lease)s, f.timeout + %(grace)s)
                                         * interval '1 second',
       due_at = clock_timestamp() + least(%(lease)s, f.timeout + %(grace)s) * interval '1 second'
  FROM free f
 WHERE r.id = f.id
RETURNING r.id
