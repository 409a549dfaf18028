-- Return the circuits that a worker must know before it calls a target: those that are open or half
-- open, and those with recent failures. The condition is the same as in the index circuit_unclean,
-- so that the many clean ones are never read. Open circuits come first, in case there are too many.
SELECT *
  FROM runners_circuitbreaker
 WHERE NOT state = 'CLOSED' OR failures > 0
 ORDER BY next_retry_at DESC NULLS LAST
 LIMIT %(most)s
