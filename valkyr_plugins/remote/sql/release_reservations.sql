-- Release reserved runs that were not leased, so that they can be reserved again at once.
UPDATE runners_run r
   SET lease_until = NULL
  FROM (SELECT o.id, o.execution_id
          FROM json_to_recordset(%(rows)s::json) AS n (id uuid, execution uuid, token int)
          JOIN runners_run o ON o.id = n.id
            AND (o.execution_id = n.execution OR o.execution_id BETWEEN n.execution AND n.execution)
         WHERE o.lease_token = n.token AND (o.state = 'PENDING') IS TRUE
         ORDER BY o.id
           FOR UPDATE OF o) free
 WHERE r.id = free.id
   AND (r.execution_id = free.execution_id OR r.execution_id BETWEEN free.execution_id AND free.execution_id)
