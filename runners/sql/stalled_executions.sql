-- Return running executions that hold a slot but have no live run, except containers that wait for
-- their bodies. At most `most` executions after a position in the index are read; the last of them
-- is returned too. `OFFSET 0` keeps one lookup for each. An execution that is then planned is not
-- found again: it gets a live run, or ends.
WITH looked AS MATERIALIZED (
    SELECT workspace_id, id, started_at, row_number() OVER (ORDER BY workspace_id, id) AS n
      FROM executions_workflowexecution
     WHERE finished_at IS NULL AND state = 'RUNNING' AND place = 'HELD'
       AND (workspace_id, id) > (%(workspace)s, %(after)s)
     ORDER BY workspace_id, id
     LIMIT %(most)s
), judged AS (
    SELECT l.workspace_id, l.id, l.n,
           l.started_at < statement_timestamp() - interval '5 seconds'
           AND NOT EXISTS (
               SELECT 1 FROM runners_run r
                WHERE r.execution_id = l.id
                  AND r.state IN ('LEASED', 'PENDING', 'RUNNING', 'WAITING')
                  AND (r.state <> 'WAITING' OR r.waits_for <> 'body')
               OFFSET 0) AS stalled
      FROM looked l
)
SELECT workspace_id, id, stalled, n = %(most)s
  FROM judged
 WHERE stalled OR n = %(most)s
 ORDER BY n
