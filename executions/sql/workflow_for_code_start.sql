-- Return the columns of a workflow that a start from code needs. This statement runs often: as a
-- query of the ORM, it would take a third of the caller's CPU time of one durable `delay()`.
SELECT id, workspace_id, name, slug, origin, enabled, latest_version_id,
       canary_version_id, canary_percent, archived_at
  FROM executions_workflow
 WHERE id = %(workflow)s
