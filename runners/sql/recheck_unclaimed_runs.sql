--! plan each time
-- Return pending runs that were sent some time ago and not claimed, and set the time of their next
-- check. In the first minute, they are checked again soon; after that, when they have waited as
-- long again. So a backlog never hides the rows behind it. Runs of paused executions get a new time
-- too, but are not returned.
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
    -- The 1,000 newest runs by the time in their IDs, without those from a clock that is ahead.
    -- They include steps that end at once, which are seldom seen RUNNING.
    SELECT queue, priority, published_at, publications, lease_token
      FROM runners_run
     WHERE id <= (lpad(to_hex((extract(epoch FROM statement_timestamp()) * 1000)::bigint), 12, '0')
                  || 'ffffffffffffffffffff')::uuid
     ORDER BY id DESC
     LIMIT 1000
), overtaking AS MATERIALIZED (
    -- Computed once, not for each late run. Beside a backlog, the index still holds thousands of
    -- entries of runs that were RUNNING a moment ago, and each lookup would pass all of them.
    -- Only runs that were sent once count. Of other runs it is unknown which message arrived. An
    -- early message that came back (from a dead worker, after the visibility timeout) does not show
    -- that it overtook another one.
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
    -- `OFFSET 0` keeps one lookup for each row.
    SELECT e.state FROM executions_workflowexecution e WHERE e.id = s.execution_id OFFSET 0) e
  LEFT JOIN overtaking o ON o.queue = s.queue AND o.priority = s.priority
 WHERE e.state = 'RUNNING'
