-- The tasks that are undone next and how their undo steps stand: of those that succeeded in this
-- execution and have an undo, those not undone yet, the one that ended last before the others.
-- Nothing is undone of what another execution did: a result that was reused, or came with a fork.
-- A path's undo is named after its task: `refine[2].charge.pay` and `refine[2].undo:charge.main`.
SELECT d.step_path,
       (SELECT coalesce(array_agg(u.state), '{}')
          FROM runners_run u
         WHERE u.execution_id = d.execution_id AND u.epoch = d.epoch AND NOT u.superseded
           AND u.step_path = regexp_replace(d.step_path, '([^.]+)\.[^.]+$', 'undo:\1.main'))
  FROM runners_run d
 WHERE d.execution_id = %(execution)s AND d.epoch = %(epoch)s AND (d.state = 'SUCCESS') IS TRUE
   AND NOT d.superseded AND d.cached_from IS NULL AND d.module_id = ANY(%(undone)s)
   AND NOT EXISTS (
       SELECT 1 FROM runners_run u
        WHERE u.execution_id = d.execution_id AND u.epoch = d.epoch AND NOT u.superseded
          AND u.state IN ('SUCCESS', 'SKIPPED')
          AND u.step_path = regexp_replace(d.step_path, '([^.]+)\.[^.]+$', 'undo:\1.main'))
 ORDER BY d.finished_at DESC, d.id DESC
 LIMIT %(most)s
