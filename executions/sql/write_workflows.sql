--! plan each time
-- Update workflows to the content of their code or bundle, and to their latest versions. The caller
-- has locked them.
-- rows: a JSON array with one object for each workflow, all of whose columns are written.
UPDATE executions_workflow w
   SET name = r.name, description = r.description, origin = r.origin,
       origin_line = r.origin_line, definition = r.definition, revision = r.revision,
       updated_at = r.updated_at, latest_version_id = r.latest_version
  FROM jsonb_to_recordset(%(rows)s::jsonb) AS r (
       id uuid, name text, description text, origin text, origin_line integer, definition jsonb,
       revision integer, updated_at timestamptz, latest_version uuid
  )
 WHERE w.id = r.id
