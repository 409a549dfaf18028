--! one partition: execution
-- Return some items of a map from the inputs of its run; the list is read once. If the row has no
-- list, because the inputs are sealed or the list is stored elsewhere, return the whole inputs.
SELECT i, (m.items -> i)::json,
       CASE WHEN i = (%(indexes)s::int[])[1] AND m.items -> i IS NULL THEN m.inputs::json END
  FROM (SELECT inputs, inputs -> 'items' AS items
          FROM runners_run
         WHERE execution_id = %(execution)s AND epoch = %(epoch)s AND step_path = %(path)s
           AND state IN ('LEASED', 'PENDING', 'RUNNING', 'SKIPPED', 'SUCCESS', 'WAITING')
           AND NOT superseded) m,
       unnest(%(indexes)s::int[]) AS i
