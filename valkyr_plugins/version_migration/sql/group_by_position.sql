-- Group the queued executions of a migration by everything that decides whether they can move:
-- their own state, and the steps that they have reached. Return the number and one example of each
-- group.
SELECT signature, count(*), min(id), (array_agg(execution_id ORDER BY id))[1], bool_or(gone)
  FROM (
    SELECT i.id, i.execution_id,
           e.version_id <> %(source)s OR e.finished_at IS NOT NULL AS gone,
           CASE WHEN e.version_id <> %(source)s OR e.finished_at IS NOT NULL THEN ''
                ELSE e.state || e.compensation || coalesce((
           SELECT md5(string_agg(concat_ws(' ', r.step_path, r.state, r.outcome, r.module,
                                           r.waits_for, r.lease_token > 0 OR r.attempt > 1),
                                 ',' ORDER BY r.step_path, r.state))
             FROM runners_run r
            WHERE r.execution_id = e.id AND r.epoch = e.epoch AND NOT r.superseded), '')
            END AS signature
      FROM (SELECT id, execution_id
              FROM valkyr_version_migration_migratedexecution
             WHERE migration_id = %(migration)s AND state = 'QUEUED'
             ORDER BY id
             LIMIT %(most)s) i
      JOIN executions_workflowexecution e ON e.id = i.execution_id
  ) looked
 GROUP BY signature
 ORDER BY count(*) DESC, min(id)
