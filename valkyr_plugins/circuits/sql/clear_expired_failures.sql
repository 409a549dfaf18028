-- Clear the failures of closed circuits whose window has ended: the circuits are clean again, and
-- leave the index circuit_unclean. Rows that a worker is changing are skipped; a later call handles
-- them.
UPDATE runners_circuitbreaker b
   SET failures = 0, answers = 0, window_until = NULL
 WHERE b.id IN (
    SELECT id FROM runners_circuitbreaker
     WHERE (NOT state = 'CLOSED' OR failures > 0)
       AND state = 'CLOSED' AND window_until <= statement_timestamp()
     LIMIT %(batch)s FOR NO KEY UPDATE SKIP LOCKED
 )
RETURNING b.id
