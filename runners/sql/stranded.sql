--! one partition: execution
-- Runs that may have come with the same message as one whose worker is gone: pending since before
-- it was begun. Where they came alone, sending them twice does no harm. `coalesce` keeps the planner
-- from the identity index, which has all that is done too.
SELECT p.id
  FROM runners_run r
  JOIN runners_run p ON p.execution_id = %(execution)s AND p.epoch = r.epoch
 WHERE r.id = %(run)s
   AND (r.execution_id = %(execution)s OR r.execution_id BETWEEN %(execution)s AND %(execution)s)
   AND p.state = 'PENDING' AND coalesce(p.superseded, false) = false
   AND p.queue = r.queue AND p.published_at <= r.started_at AND p.publications = 1
 LIMIT %(most)s
