-- Return the iterations of the containers in one place, for a page: first the dead and failed ones,
-- then those in progress, then the newest. At most `most` of each container are returned, with the
-- numbers of all. An iteration is dead if a step inside it is a dead letter. It is failed if one of
-- its own steps failed and no edge handled the failure.
WITH steps AS (
    SELECT rest, split_part(rest, ']', 1) AS turn,
           strpos(substr(rest, strpos(rest, '[') + 1), '[') = 0 AS own,
           bool_or(state = 'DLQ') AND NOT bool_or(
               state IN ('LEASED', 'PENDING', 'RUNNING', 'SKIPPED', 'SUCCESS', 'WAITING')) AS dead,
           bool_or(state = 'FAILED' AND outcome = 'error') AS failed,
           bool_or(state IN ('LEASED', 'PENDING', 'RUNNING')) AS awake,
           bool_or(state = 'WAITING') AS asleep,
           bool_or(state = 'CANCELLED') AS cancelled,
           count(*) AS runs, count(*) FILTER (WHERE state = 'SUCCESS') AS done,
           min(queued_at) AS began, max(finished_at) AS ended
      FROM (SELECT substr(step_path, char_length(%(place)s) + 1) AS rest, state, outcome,
                   queued_at, finished_at
              FROM runners_run
             WHERE execution_id = %(execution)s AND NOT superseded
               AND starts_with(step_path, %(place)s)) r
     WHERE strpos(rest, '[') > 0
     GROUP BY rest
), turns AS (
    SELECT split_part(turn, '[', 1) AS container, split_part(turn, '[', 2)::int AS index,
           CASE WHEN bool_or(dead) THEN 'dead'
                WHEN bool_or(own AND failed
                             AND NOT split_part(turn, '[', 1) || '.' ||
                                     split_part(split_part(rest, '].', 2), '.', 1)
                                     = ANY(%(minded)s::text[])) THEN 'failed'
                WHEN bool_or(awake) THEN 'running'
                WHEN bool_or(asleep) THEN 'waiting'
                WHEN bool_or(cancelled) THEN 'cancelled'
                ELSE 'done' END AS kind,
           sum(runs)::int AS runs, coalesce(sum(runs) FILTER (WHERE own), 0)::int AS own,
           sum(done)::int AS done, min(began) AS began, max(ended) AS ended
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
SELECT container, index, kind, runs, own, done, began, ended, total, dead, failed
  FROM counted WHERE rank <= %(most)s
 ORDER BY container, rank
