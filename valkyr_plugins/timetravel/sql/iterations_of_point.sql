-- Return the iterations of containers with runs that belong to a point, such as `refine[2].`. A run
-- belongs to the point if it had succeeded, was skipped, or had taken its `error` edge by then. All
-- other runs will run again.
SELECT DISTINCT substring(step_path FROM '^.*\]\.')
  FROM runners_run
 WHERE execution_id = %(execution)s AND epoch = %(epoch)s AND NOT superseded
   AND (state IN ('SKIPPED', 'SUCCESS') OR (state = 'FAILED' AND outcome = 'error'))
   AND (finished_at, id) <= (%(at)s, %(last)s) AND step_path <> %(before)s
   AND position('[' IN step_path) > 0
