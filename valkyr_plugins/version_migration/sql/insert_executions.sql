-- Insert the live executions of a version into a migration, the oldest first.
INSERT INTO valkyr_version_migration_migratedexecution
       (migration_id, execution_id, state, at, reason)
SELECT %(migration)s, e.id, 'QUEUED', '', ''
  FROM executions_workflowexecution e
 WHERE e.workspace_id = %(workspace)s AND e.workflow_id = %(workflow)s
   AND e.version_id = %(version)s AND e.finished_at IS NULL
   AND e.state IN ('PENDING', 'RUNNING', 'PAUSED')
   AND (%(ids)s::uuid[] IS NULL OR e.id = ANY(%(ids)s))
 ORDER BY e.id
 LIMIT %(most)s
RETURNING 1
