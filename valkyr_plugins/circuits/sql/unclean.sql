-- The circuits a worker must know of before it calls: those that rest or probe, and those that
-- failed of late. The condition is that of the index circuit_unclean, word for word, so that the
-- many clean ones are never looked at. Those that rest come first, should there be too many.
SELECT *
  FROM runners_circuitbreaker
 WHERE NOT state = 'CLOSED' OR failures > 0
 ORDER BY next_retry_at DESC NULLS LAST
 LIMIT %(most)s
