-- Store a step's result for equal steps; a newer result replaces an older one.
INSERT INTO runners_cachedresult (
    id, owner, key, run_id, outcome, outputs, created_at, expires_at)
SELECT %(id)s,
       CASE WHEN %(shared)s
           THEN (SELECT workspace_id FROM executions_workflow WHERE id = %(workflow)s)
           ELSE %(workflow)s::uuid END,
       %(key)s, %(run)s, %(outcome)s, %(outputs)s::jsonb,
       clock_timestamp(), clock_timestamp() + %(seconds)s * interval '1 second'
ON CONFLICT (owner, key) DO UPDATE
   SET run_id = excluded.run_id, outcome = excluded.outcome, outputs = excluded.outputs,
       created_at = excluded.created_at, expires_at = excluded.expires_at
