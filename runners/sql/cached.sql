-- A result made by an equal step, unless it is too old. A step's owner is its workflow, or the
-- workspace of that.
SELECT c.run_id, c.outcome, c.outputs::json
  FROM runners_cachedresult c
 WHERE c.key = %(key)s AND c.expires_at > clock_timestamp()
   AND c.owner = CASE WHEN %(shared)s
           THEN (SELECT workspace_id FROM executions_workflow WHERE id = %(workflow)s)
           ELSE %(workflow)s::uuid END
