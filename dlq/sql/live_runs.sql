-- Count the live runs by state and queue. At most `most` runs of each state are counted.
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
