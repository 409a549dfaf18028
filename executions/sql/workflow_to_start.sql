-- What a start from code asks of its workflow. A hot statement: as a query of the ORM it takes a
-- third of the caller's CPU of one durable `delay()`.
SELECT id, workspace_id, name, slug, origin, enabled, latest_version_id,
       canary_version_id, canary_percent, archived_at
  FROM executions_workflow
 WHERE id = %(workflow)s
