-- Leave the tokens of live runs far behind, so that whoever held or claimed one in another life
-- of this database is not taken for the holder: some runs past an id, in the order of their ids.
WITH picked AS (
    SELECT id, execution_id
      FROM runners_run
     WHERE state IN ('PENDING', 'LEASED', 'RUNNING', 'WAITING')
       AND id > %(after)s
     ORDER BY id
     LIMIT %(most)s
       FOR UPDATE
)
UPDATE runners_run r
   SET lease_token = r.lease_token + %(leap)s
  FROM picked
 WHERE r.id = picked.id
   AND (r.execution_id = picked.execution_id OR r.execution_id BETWEEN picked.execution_id AND picked.execution_id)
RETURNING r.id
