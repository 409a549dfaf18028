--! plan each time
-- Return the newest executions with a label, between two IDs. Each pair of a workflow and a state
-- is one range of the index label_newest. Each range has its own limit, so that few rows are read
-- from a range with few executions.
SELECT r.number, c.execution_id
  FROM unnest(%(workflows)s::uuid[], %(states)s::text[], %(many)s::int[])
       WITH ORDINALITY AS r (workflow_id, state, many, number)
 CROSS JOIN LATERAL (
       SELECT l.execution_id
         FROM executions_executionlabel AS l
        WHERE l.name = %(name)s AND l.value = %(value)s AND l.workflow_id = r.workflow_id
          AND l.state = r.state AND l.execution_id > %(above)s AND l.execution_id < %(below)s
        ORDER BY l.execution_id DESC
        LIMIT r.many) AS c
