-- Runs that were reserved and not leased may be reserved again at once.
UPDATE runners_run r
   SET lease_until = NULL
  FROM (SELECT o.id
          FROM json_to_recordset(%(rows)s::json) AS n (id uuid, token int)
          JOIN runners_run o ON o.id = n.id
         WHERE o.lease_token = n.token AND (o.state = 'PENDING') IS TRUE
         ORDER BY o.id
           FOR UPDATE OF o) free
 WHERE r.id = free.id
