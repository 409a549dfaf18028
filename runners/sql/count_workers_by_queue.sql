-- Count the processes and threads that serve each queue, from the rows of the live workers.
SELECT queue, sum(w.processes)::int
  FROM runners_runner w
 CROSS JOIN LATERAL jsonb_array_elements_text(w.queues) AS queue
 WHERE w.seen_at > statement_timestamp() - %(within)s::interval AND w.leaving_at IS NULL
   AND w.pool <> 'remote'
 GROUP BY queue
