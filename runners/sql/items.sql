--! one partition: execution
-- Some items of a map, out of what its run was started with; the list is unpacked once.
-- If no list is in the row, since it is sealed or stored, the whole inputs.
SELECT i, (m.items -> i)::json,
       CASE WHEN i = (%(indexes)s::int[])[1] AND m.items -> i IS NULL THEN m.inputs::json END
  FROM (SELECT inputs, inputs -> 'items' AS items
          FROM runners_run
         WHERE execution_id = %(execution)s AND epoch = %(epoch)s AND step_path = %(path)s
           AND state IN ('LEASED', 'PENDING', 'RUNNING', 'SKIPPED', 'SUCCESS', 'WAITING')
           AND NOT superseded) m,
       unnest(%(indexes)s::int[]) AS i
