--! plan each time
-- How many pending runs were sent to each queue before a time: of the ten thousand that wait
-- longest, so that a backlog costs no more than that.
SELECT s.queue, count(*)
  FROM (SELECT queue, published_at, execution_id
          FROM runners_run
         WHERE finished_at IS NULL AND state = 'PENDING' AND due_at IS NOT NULL AND published_at IS NOT NULL
         ORDER BY due_at
         LIMIT %(most)s) s
  JOIN unnest(%(queues)s::text[], %(times)s::timestamptz[]) AS own (queue, since)
    ON own.queue = s.queue AND s.published_at < own.since
 WHERE s.execution_id <> %(execution)s
 GROUP BY s.queue
