-- Return the steps that had ended by a point, and when the first attempt of each began. Also return
-- whether the step ended its task early: it was skipped, or took its `error` edge.
SELECT r.step_path, bool_or(r.state <> 'SUCCESS'), min(coalesce(r.started_at, r.queued_at))
  FROM runners_run r
 WHERE r.execution_id = %(execution)s AND r.epoch = %(epoch)s AND NOT r.superseded
   AND (r.state IN ('SKIPPED', 'SUCCESS') OR (r.state = 'FAILED' AND r.outcome = 'error'))
   AND (r.finished_at, r.id) <= (%(at)s, %(last)s) AND r.step_path <> %(before)s
 GROUP BY r.step_path
