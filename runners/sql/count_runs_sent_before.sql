--! plan each time
-- Count the pending runs that were sent to each queue before a time. Of all queues, only the `most`
-- runs that are due first are read, so that a long backlog costs no more.
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
