-- Circuits of targets first called long ago (ids are in the order of time, so these are the first of
-- the primary key) that are clean: nothing is lost, the next call begins another row.
DELETE FROM runners_circuitbreaker b
 WHERE b.id = ANY(ARRAY(
    SELECT id FROM runners_circuitbreaker
     WHERE id < %(before)s AND state = 'CLOSED' AND failures = 0 AND trials = 0
     ORDER BY id LIMIT %(batch)s FOR UPDATE SKIP LOCKED
 ))
RETURNING b.id
