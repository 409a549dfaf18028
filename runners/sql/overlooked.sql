--! plan each time
-- Pending runs that were sent a while ago and not claimed. Each is stamped to be looked at again
-- soon, and from a minute on after as long again as it has waited, so that a backlog never hides the
-- rows behind it; those of paused executions likewise.
WITH late AS (
    SELECT r.id, r.execution_id
      FROM runners_run r
     WHERE r.finished_at IS NULL AND r.state = 'PENDING'
       AND r.due_at <= statement_timestamp() AND r.published_at IS NOT NULL
     ORDER BY r.due_at
     LIMIT %(batch)s
       FOR UPDATE SKIP LOCKED
), stamped AS (
    UPDATE runners_run r
       SET due_at = clock_timestamp() + CASE
               WHEN clock_timestamp() - r.published_at < interval '60 seconds'
               THEN %(patience)s * interval '1 second'
               ELSE clock_timestamp() - r.published_at END
      FROM late l
     WHERE r.id = l.id
       AND (r.execution_id = l.execution_id OR r.execution_id BETWEEN l.execution_id AND l.execution_id)
    RETURNING r.id, r.execution_id, r.queue, r.priority, r.published_at,
              r.secret_places IS NOT NULL AS prepared
), newest AS MATERIALIZED (
    -- The thousand runs made last, by the time in their ids; those of a clock that is ahead are
    -- left out. Steps that end at once are seldom seen running.
    SELECT queue, priority, published_at, publications, lease_token
      FROM runners_run
     WHERE id <= (lpad(to_hex((extract(epoch FROM statement_timestamp()) * 1000)::bigint), 12, '0')
                  || 'ffffffffffffffffffff')::uuid
     ORDER BY id DESC
     LIMIT 1000
), overtaking AS MATERIALIZED (
    -- Once, not for each late run: beside a backlog the index still holds thousands of entries of
    -- runs that were running a moment ago, and each look passes them all.
    -- Of runs that were sent once only: of another it is not known which of its messages came, and
    -- an early one come back (from a dead worker, by the visibility time-out) overtakes nobody.
    SELECT queue, priority, max(published_at) AS newest
      FROM (SELECT queue, priority, published_at
              FROM runners_run
             WHERE finished_at IS NULL AND state = 'RUNNING' AND publications = 1
             UNION ALL
            SELECT queue, priority, published_at
              FROM newest
             WHERE lease_token > 0 AND publications = 1) claimed
     GROUP BY queue, priority
)
SELECT s.queue, s.id, coalesce(o.newest > s.published_at + interval '10 seconds', false),
       s.prepared, s.execution_id
  FROM stamped s
 CROSS JOIN LATERAL (
    -- OFFSET keeps it a look-up for each row.
    SELECT e.state FROM executions_workflowexecution e WHERE e.id = s.execution_id OFFSET 0) e
  LEFT JOIN overtaking o ON o.queue = s.queue AND o.priority = s.priority
 WHERE e.state = 'RUNNING'
