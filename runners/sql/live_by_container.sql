--! one partition: execution
-- How many live runs the bodies of each container have, by state: the container's path without
-- the indexes of its turns.
SELECT regexp_replace(regexp_replace(step_path, '\[\d+\]', '', 'g'), '\.[^.]+\.[^.]+$', ''),
       state, count(*)
  FROM runners_run
 WHERE execution_id = %(execution)s AND state IN ('LEASED', 'PENDING', 'RUNNING', 'WAITING')
   AND step_path LIKE '%%[%%'
 GROUP BY 1, 2
 ORDER BY 1, 2
