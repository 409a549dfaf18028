-- Return the stored result of an equal step, unless it has expired. The owner of a result is the
-- step's workflow or, for a shared result, the workflow's workspace.
SELECT c.run_id, c.outcome, c.outputs::json
  FROM runners_cachedresult c
 WHERE c.key = %(key)s AND c.expires_at > clock_timestamp()
   AND c.owner = CASE WHEN %(shared)s
           THEN (SELECT workspace_id FROM executions_workflow WHERE id = %(workflow)s)
           ELSE %(workflow)s::uuid END
