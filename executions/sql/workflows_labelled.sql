-- Return the workflows that have executions with a label. For each workflow, one entry of the index
-- label_newest is read.
WITH RECURSIVE found AS (
    (SELECT l.workflow_id FROM executions_executionlabel AS l
      WHERE l.name = %(name)s AND l.value = %(value)s
      ORDER BY l.workflow_id LIMIT 1)
     UNION ALL
    SELECT (SELECT l.workflow_id FROM executions_executionlabel AS l
             WHERE l.name = %(name)s AND l.value = %(value)s AND l.workflow_id > f.workflow_id
             ORDER BY l.workflow_id LIMIT 1)
      FROM found AS f WHERE f.workflow_id IS NOT NULL
)
SELECT workflow_id FROM found WHERE workflow_id IS NOT NULL LIMIT 10000
