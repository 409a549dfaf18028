-- Read the credentials that a step names and, in the same statement, record their use, before the
-- step's module receives a value. If a step is refused, its rows are corrected afterwards.
-- Races that this prevents:
--  * a credential that is being changed: its `last_used_at` is skipped, so that this does not wait;
--  * two steps in the same minute: one writes `last_used_at`, and the other skips the locked row.
-- With `alone` (no open transaction), the commit does not wait for the disk. The later record of
-- the step's result waits for the disk, and so makes the use durable too.
-- If the step names no host, the recorded host is that of the credential, if it allows only one.
WITH found AS (
    SELECT c.id, c.name, c.version, c.type, c.sealed, c.hosts, c.modules, c.workflows, c.remote,
           n.use_id
      FROM executions_credential c
      JOIN unnest(%(names)s::text[], %(ids)s::uuid[]) AS n(name, use_id) ON n.name = c.name
     WHERE c.workspace_id = %(workspace)s
), noted AS (
    UPDATE executions_credential
       SET last_used_at = clock_timestamp()
     WHERE id IN (
           SELECT d.id FROM executions_credential d
            WHERE d.workspace_id = %(workspace)s AND d.name = ANY(%(names)s::text[])
              AND (d.last_used_at IS NULL
                   OR d.last_used_at < clock_timestamp() - interval '1 minute')
              FOR NO KEY UPDATE SKIP LOCKED)
), used AS (
    INSERT INTO executions_credentialuse (
        id, workspace_id, credential_id, name, version, workflow_id, execution_id, run_id,
        step_path, attempt, module, remote, host, allowed, reason)
    SELECT f.use_id, %(workspace)s, f.id, f.name, f.version, %(workflow)s, %(execution)s, %(run)s,
           %(path)s, %(attempt)s, %(module)s, %(remote)s,
           CASE WHEN %(host)s <> '' THEN %(host)s
                WHEN jsonb_array_length(f.hosts) = 1 AND f.hosts->>0 !~ '[*/]'
                THEN f.hosts->>0 ELSE '' END,
           true, ''
      FROM found f
)
SELECT f.name, f.use_id, f.id, f.version, f.type, f.sealed, f.hosts, f.modules, f.workflows,
       f.remote,
       CASE WHEN %(alone)s THEN set_config('synchronous_commit', 'off', true) END
  FROM found f
