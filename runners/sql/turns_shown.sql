-- The turns of the containers in one place, for people to look at: those that need somebody first,
-- then those under way, then the newest; so many of each container, and how many there are in all.
-- A turn has failed when a step of its own failed and no edge took it, is dead when one inside it
-- waits as a dead letter.
WITH steps AS (
    SELECT split_part(r.rest, ']', 1) AS turn, strpos(substr(r.rest, strpos(r.rest, '[') + 1), '[') = 0
           AS own, r.rest, r.state, r.outcome, r.queued_at, r.finished_at,
           r.state = 'DLQ' AND NOT EXISTS (
               SELECT 1 FROM runners_run n
                WHERE n.execution_id = r.execution_id AND n.epoch = r.epoch
                  AND n.step_path = r.step_path AND NOT n.superseded
                  AND n.state IN ('LEASED', 'PENDING', 'RUNNING', 'SKIPPED', 'SUCCESS', 'WAITING'))
           AS dead
      FROM (SELECT execution_id, epoch, step_path, state, superseded, outcome, queued_at,
                   finished_at, substr(step_path, char_length(%(place)s) + 1) AS rest
              FROM runners_run
             WHERE execution_id = %(execution)s AND NOT superseded
               AND starts_with(step_path, %(place)s)) r
     WHERE strpos(r.rest, '[') > 0
), turns AS (
    SELECT split_part(turn, '[', 1) AS container, split_part(turn, '[', 2)::int AS index,
           CASE WHEN bool_or(dead) THEN 'dead'
                WHEN bool_or(own AND state = 'FAILED' AND outcome = 'error'
                             AND NOT split_part(turn, '[', 1) || '.' ||
                                     split_part(split_part(rest, '].', 2), '.', 1)
                                     = ANY(%(minded)s::text[])) THEN 'failed'
                WHEN bool_or(state IN ('LEASED', 'PENDING', 'RUNNING')) THEN 'running'
                WHEN bool_or(state = 'WAITING') THEN 'waiting'
                WHEN bool_or(state = 'CANCELLED') THEN 'cancelled'
                ELSE 'done' END AS kind,
           count(*) AS steps, count(*) FILTER (WHERE own) AS own,
           count(*) FILTER (WHERE state = 'SUCCESS') AS done,
           min(queued_at) AS began, max(finished_at) AS ended
      FROM steps GROUP BY turn
), counted AS (
    SELECT t.*,
           row_number() OVER (PARTITION BY container ORDER BY
               array_position(ARRAY['dead', 'failed', 'running', 'waiting'], kind), index DESC)
           AS rank,
           count(*) OVER c AS total,
           count(*) FILTER (WHERE kind = 'dead') OVER c AS dead,
           count(*) FILTER (WHERE kind = 'failed') OVER c AS failed
      FROM turns t
    WINDOW c AS (PARTITION BY container)
)
SELECT container, index, kind, steps, own, done, began, ended, total, dead, failed
  FROM counted WHERE rank <= %(most)s
 ORDER BY container, rank
