-- What belongs to the point lives on in the new epoch; containers count their turns anew.
UPDATE runners_run
   SET epoch = %(epoch)s,
       progress = CASE WHEN state = 'WAITING' THEN NULL ELSE progress END
 WHERE execution_id = %(execution)s AND NOT superseded AND epoch < %(epoch)s
