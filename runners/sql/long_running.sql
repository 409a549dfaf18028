-- Return random executions with a run that has been held for longer than its first lease. The order
-- is random, so that no execution is left out for long, however many there are.
SELECT h.execution_id
  FROM (SELECT DISTINCT execution_id
          FROM (SELECT execution_id
                  FROM runners_run
                 WHERE finished_at IS NULL AND state = 'RUNNING'
                   AND due_at <= statement_timestamp()
                OFFSET 0) late) h
 ORDER BY random()
 LIMIT %(batch)s
