--! one partition: execution
-- Return runs that may have come in the same message as a run whose worker was lost: pending, and
-- sent before that run began. If they came in other messages, a second message does no harm.
-- `coalesce` prevents the planner from using the identity index, which also contains all finished
-- runs.
SELECT p.id
  FROM runners_run r
  JOIN runners_run p ON p.execution_id = %(execution)s AND p.epoch = r.epoch
 WHERE r.id = %(run)s
   AND (r.execution_id = %(execution)s OR r.execution_id BETWEEN %(execution)s AND %(execution)s)
   AND p.state = 'PENDING' AND coalesce(p.superseded, false) = false
   AND p.queue = r.queue AND p.published_at <= r.started_at AND p.publications = 1
 LIMIT %(most)s
