-- Move the runs that belong to the point into the new epoch. Waiting containers lose their
-- counters, which are then rebuilt.
UPDATE runners_run
   SET epoch = %(epoch)s,
       progress = CASE WHEN state = 'WAITING' THEN NULL ELSE progress END
 WHERE execution_id = %(execution)s AND NOT superseded AND epoch < %(epoch)s
