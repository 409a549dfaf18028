-- Increase the tokens of live runs by a large number after a restore. So a process that held or
-- claimed a run before the restore is fenced. Each call handles some runs after an ID, in the order
-- of their IDs.
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
