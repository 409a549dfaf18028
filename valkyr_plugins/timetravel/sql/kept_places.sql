-- The places inside containers in which something belongs to a point: `refine[2].`. A run belongs
-- to it that was done, skipped, or failed over by then; everything else will be begun again.
SELECT DISTINCT substring(step_path FROM '^.*\]\.')
  FROM runners_run
 WHERE execution_id = %(execution)s AND epoch = %(epoch)s AND NOT superseded
   AND (state IN ('SKIPPED', 'SUCCESS') OR (state = 'FAILED' AND outcome = 'error'))
   AND (finished_at, id) <= (%(at)s, %(last)s) AND step_path <> %(before)s
   AND position('[' IN step_path) > 0
