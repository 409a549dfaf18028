-- How many runs live, by state and queue: of each state at most so many are counted.
SELECT state, queue, count(*)
  FROM ((SELECT state, queue FROM runners_run WHERE state = 'PENDING' LIMIT %(most)s)
        UNION ALL
        (SELECT state, queue FROM runners_run WHERE state = 'LEASED' LIMIT %(most)s)
        UNION ALL
        (SELECT state, queue FROM runners_run WHERE state = 'RUNNING' LIMIT %(most)s)
        UNION ALL
        (SELECT state, queue FROM runners_run WHERE state = 'WAITING' LIMIT %(most)s)) AS counted
 GROUP BY state, queue
