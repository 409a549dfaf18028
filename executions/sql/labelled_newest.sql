--! plan each time
-- The newest executions with a label, of these workflows and in these states, after one of them. Each
-- workflow and state is one range of the index label_newest, of which the first rows are read.
SELECT c.execution_id
  FROM unnest(%(workflows)s::uuid[]) AS w (id)
 CROSS JOIN unnest(%(states)s::text[]) AS s (state)
 CROSS JOIN LATERAL (
       SELECT l.execution_id
         FROM executions_executionlabel AS l
        WHERE l.name = %(name)s AND l.value = %(value)s AND l.workflow_id = w.id
          AND l.state = s.state AND l.execution_id < %(after)s
        ORDER BY l.execution_id DESC
        LIMIT %(many)s) AS c
 ORDER BY c.execution_id DESC
 LIMIT %(many)s
