-- Delete clean circuits of targets that were first called long ago. IDs are in the order of time,
-- so these are the first ones of the primary key. Nothing is lost: the next call inserts a new row.
DELETE FROM runners_circuitbreaker b
 WHERE b.id = ANY(ARRAY(
    SELECT id FROM runners_circuitbreaker
     WHERE id < %(before)s AND state = 'CLOSED' AND failures = 0 AND trials = 0
     ORDER BY id LIMIT %(batch)s FOR UPDATE SKIP LOCKED
 ))
RETURNING b.id
