--! one partition: execution
-- Some items of a map, out of what its run was started with; the list is unpacked once.
SELECT i, (m.items -> i)::json, CASE WHEN i = (%(indexes)s::int[])[1] THEN m.sealed END
  FROM (SELECT inputs -> 'items' AS items,
               CASE WHEN inputs ? '$sealed' THEN inputs END::json AS sealed
          FROM runners_run
         WHERE execution_id = %(execution)s AND epoch = %(epoch)s AND step_path = %(path)s
           AND state IN ('LEASED', 'PENDING', 'RUNNING', 'SKIPPED', 'SUCCESS', 'WAITING')
           AND NOT superseded) m,
       unnest(%(indexes)s::int[]) AS i
