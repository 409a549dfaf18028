-- How many runs live, by state and queue: of each state at most so many are counted.
SELECT state, queue, count(*)
  FROM ((SELECT state, queue FROM runners_run WHERE state = 'PENDING' AND finished_at IS NULL
          LIMIT %(most)s)
        UNION ALL
        (SELECT state, queue FROM runners_run WHERE state = 'LEASED' AND finished_at IS NULL
          LIMIT %(most)s)
        UNION ALL
        (SELECT state, queue FROM runners_run WHERE state = 'RUNNING' AND finished_at IS NULL
          LIMIT %(most)s)
        UNION ALL
        (SELECT state, queue FROM runners_run WHERE state = 'WAITING' AND finished_at IS NULL
          LIMIT %(most)s)) AS counted
 GROUP BY state, queue
