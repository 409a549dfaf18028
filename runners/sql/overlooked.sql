-- Pending runs that were sent a while ago and not claimed. Each is stamped to be looked at again
-- later (after as long again as it has waited), so that a backlog never hides the rows behind it;
-- those of paused executions likewise.
WITH late AS (
    SELECT r.id
      FROM runners_run r
     WHERE r.state = 'PENDING' AND r.due_at <= statement_timestamp() AND r.published_at IS NOT NULL
     ORDER BY r.due_at
     LIMIT %(batch)s
       FOR UPDATE SKIP LOCKED
), stamped AS (
    UPDATE runners_run r
       SET due_at = clock_timestamp() + greatest(
               %(patience)s * interval '1 second', clock_timestamp() - r.published_at)
      FROM late l
     WHERE r.id = l.id
    RETURNING r.id, r.execution_id, r.queue, r.priority, r.published_at,
              r.secret_places IS NOT NULL AS prepared
), overtaking AS MATERIALIZED (
    -- Once, not for each late run: beside a backlog the index still holds thousands of entries of
    -- runs that were running a moment ago, and each look passes them all.
    -- Of runs that were sent once only: of another it is not known which of its messages came, and
    -- an early one come back (from a dead worker, by the visibility time-out) overtakes nobody.
    SELECT queue, priority, max(published_at) AS newest
      FROM runners_run
     WHERE state = 'RUNNING' AND publications = 1
     GROUP BY queue, priority
)
SELECT s.queue, s.id, coalesce(o.newest > s.published_at + interval '10 seconds', false),
       s.prepared
  FROM stamped s
  JOIN executions_workflowexecution e ON e.id = s.execution_id AND e.state = 'RUNNING'
  LEFT JOIN overtaking o ON o.queue = s.queue AND o.priority = s.priority
