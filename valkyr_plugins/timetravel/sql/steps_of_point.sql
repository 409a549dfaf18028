-- Return the steps that belong to a point, each once for all iterations of its body.
SELECT DISTINCT regexp_replace(step_path, '\[\d+\]', '[0]', 'g')
  FROM runners_run
 WHERE execution_id = %(execution)s AND epoch = %(epoch)s AND NOT superseded
   AND (state IN ('SKIPPED', 'SUCCESS') OR (state = 'FAILED' AND outcome = 'error'))
   AND (finished_at, id) <= (%(at)s, %(last)s) AND step_path <> %(before)s
