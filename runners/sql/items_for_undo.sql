--! one partition: execution
-- Return the same as `items`, for undo steps: the map's own run may be in any state.
SELECT i, (m.items -> i)::json,
       CASE WHEN i = (%(indexes)s::int[])[1] AND m.items -> i IS NULL THEN m.inputs::json END
  FROM (SELECT inputs, inputs -> 'items' AS items
          FROM runners_run
         WHERE execution_id = %(execution)s AND epoch = %(epoch)s AND step_path = %(path)s
           AND NOT superseded AND inputs IS NOT NULL
         ORDER BY attempt DESC
         LIMIT 1) m,
       unnest(%(indexes)s::int[]) AS i
