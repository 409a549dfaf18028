--! one partition: execution
-- Return the tasks to undo next, and the states of their undo steps. These are tasks with an undo
-- step that succeeded in this execution and are not undone yet, the last ended one first. Results
-- of other executions are not undone: results that were reused, or came with a fork.
-- Tasks are undone strictly backwards. So the tasks that remain ended before the one whose undo
-- ended last. A search for the undo step of each task would compare each run with each other run.
-- The path of an undo step follows from its task: `refine[2].charge.pay` and
-- `refine[2].undo:charge.main`.
WITH done AS MATERIALIZED (
    SELECT id, step_path, finished_at
      FROM runners_run
     WHERE execution_id = %(execution)s AND epoch = %(epoch)s AND (state = 'SUCCESS') IS TRUE
       AND NOT superseded AND cached_from IS NULL AND module_id = ANY(%(undone)s)
), undos AS MATERIALIZED (
    SELECT id, step_path, state, finished_at
      FROM runners_run
     WHERE execution_id = %(execution)s AND epoch = %(epoch)s AND NOT superseded
       AND position('undo:' IN step_path) > 0
), newest AS MATERIALIZED (
    SELECT regexp_replace(step_path, 'undo:([^.]+)\.[^.]+$', '\1.') AS task
      FROM undos
     WHERE state IN ('SUCCESS', 'SKIPPED')
     ORDER BY finished_at DESC, id DESC
     LIMIT 1
), reached AS MATERIALIZED (
    SELECT d.finished_at, d.id FROM done d JOIN newest n ON starts_with(d.step_path, n.task)
), following AS MATERIALIZED (
    SELECT d.step_path, d.finished_at, d.id,
           regexp_replace(d.step_path, '([^.]+)\.[^.]+$', 'undo:\1.main') AS undo
      FROM (SELECT d.*
              FROM done d
             WHERE NOT EXISTS (SELECT 1 FROM reached r
                                WHERE (d.finished_at, d.id) >= (r.finished_at, r.id))
             ORDER BY d.finished_at DESC, d.id DESC
             LIMIT %(most)s) d
)
SELECT f.step_path, coalesce(array_agg(u.state) FILTER (WHERE u.state IS NOT NULL), '{}')
  FROM following f
  LEFT JOIN undos u ON u.step_path = f.undo
 GROUP BY f.id, f.step_path, f.finished_at
 ORDER BY f.finished_at DESC, f.id DESC
