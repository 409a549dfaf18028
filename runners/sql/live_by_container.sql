--! one partition: execution
-- Count the live runs in the bodies of each container, by state. A container is named by its path
-- without the indexes of iterations.
SELECT regexp_replace(regexp_replace(step_path, '\[\d+\]', '', 'g'), '\.[^.]+\.[^.]+$', ''),
       state, count(*)
  FROM runners_run
 WHERE execution_id = %(execution)s AND state IN ('LEASED', 'PENDING', 'RUNNING', 'WAITING')
   AND step_path LIKE '%%[%%'
 GROUP BY 1, 2
 ORDER BY 1, 2
