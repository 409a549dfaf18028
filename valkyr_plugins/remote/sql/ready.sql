-- Begin the time of leased runs, right before they are handed out. A run that is not returned was
-- taken back meanwhile. They are locked in the order of their ids, and waited for: others who lease
-- look at them in passing, and lock them for a moment.
WITH free AS MATERIALIZED (
    SELECT n.id, n.timeout
      FROM json_to_recordset(%(rows)s::json) AS n (id uuid, token int, timeout float8)
      JOIN runners_run r ON r.id = n.id
     WHERE r.lease_token = n.token AND (r.state = 'LEASED') IS TRUE
     ORDER BY r.id
       FOR UPDATE OF r
)
UPDATE runners_run r
   SET deadline_at = clock_timestamp() + f.timeout * interval '1 second',
       lease_until = clock_timestamp() + least(%(lease)s, f.timeout + %(grace)s)
                                         * interval '1 second',
       due_at = clock_timestamp() + least(%(lease)s, f.timeout + %(grace)s) * interval '1 second'
  FROM free f
 WHERE r.id = f.id
RETURNING r.id
