--! plan each time
-- Workflows of code or of a bundle, as it says them now, with their latest versions.
-- rows: a JSON array of one object a workflow, all of whose columns are written. They are locked.
UPDATE executions_workflow w
   SET name = r.name, description = r.description, origin = r.origin,
       origin_line = r.origin_line, definition = r.definition, revision = r.revision,
       updated_at = r.updated_at, latest_version_id = r.latest_version
  FROM jsonb_to_recordset(%(rows)s::jsonb) AS r (
       id uuid, name text, description text, origin text, origin_line integer, definition jsonb,
       revision integer, updated_at timestamptz, latest_version uuid
  )
 WHERE w.id = r.id
