-- Return the module types of every version that executions run or will run: the latest version of
-- each workflow, its canary, the versions of live executions, and those of open dead letters, which
-- a requeue runs. This is read when a deployment is checked, never while steps run.
-- Rows: workflow's slug, version's number, module type.
WITH live AS (
    SELECT w.latest_version_id AS id
      FROM executions_workflow w
     WHERE w.archived_at IS NULL AND w.latest_version_id IS NOT NULL
    UNION
    SELECT w.canary_version_id
      FROM executions_workflow w
     WHERE w.archived_at IS NULL AND w.canary_version_id IS NOT NULL
    UNION
    SELECT DISTINCT e.version_id
      FROM executions_workflowexecution e
     WHERE e.finished_at IS NULL AND e.state IN ('PENDING', 'RUNNING', 'PAUSED')
    UNION
    SELECT DISTINCT e.version_id
      FROM dlq_deadletterentry d
      JOIN executions_workflowexecution e ON e.id = d.execution_id
     WHERE d.resolution = 'PENDING'
)
SELECT DISTINCT w.slug, v.number, used #>> '{}'
  FROM live l
  JOIN executions_workflowversion v ON v.id = l.id
  JOIN executions_workflow w ON w.id = v.workflow_id
 CROSS JOIN LATERAL (
       SELECT jsonb_path_query(v.definition, '$.**.modules[*].use')
        UNION
       SELECT jsonb_path_query(v.definition, '$.**.undo.use')
 ) AS types (used)
 WHERE jsonb_typeof(used) = 'string'
 ORDER BY 1, 2, 3
