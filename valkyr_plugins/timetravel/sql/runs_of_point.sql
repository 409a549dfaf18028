-- Return the runs that belong to a point, and the containers around them that had not ended by
-- then, without an end.
SELECT r.id, coalesce(r.started_at, r.queued_at), r.finished_at
  FROM runners_run r
 WHERE r.execution_id = %(execution)s AND r.epoch = %(epoch)s AND NOT r.superseded
   AND (r.state IN ('SKIPPED', 'SUCCESS') OR (r.state = 'FAILED' AND r.outcome = 'error'))
   AND (r.finished_at, r.id) <= (%(at)s, %(last)s) AND r.step_path <> %(before)s
UNION ALL
SELECT w.id, coalesce(w.started_at, w.queued_at), NULL
  FROM (SELECT DISTINCT ON (r.step_path) r.*
          FROM runners_run r
         WHERE r.execution_id = %(execution)s AND r.epoch = %(epoch)s AND NOT r.superseded
           AND r.step_path = ANY(%(around)s)
         ORDER BY r.step_path, r.attempt DESC) w
 WHERE w.finished_at IS NULL OR (w.finished_at, w.id) > (%(at)s, %(last)s)
    OR w.state NOT IN ('SKIPPED', 'SUCCESS') AND w.outcome <> 'error'
