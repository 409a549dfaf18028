--! one partition: execution
-- As `items`, for undo steps: the map's own run may have ended in any way.
SELECT i, (m.items -> i)::json, CASE WHEN i = (%(indexes)s::int[])[1] THEN m.sealed END
  FROM (SELECT inputs -> 'items' AS items,
               CASE WHEN inputs ? '$sealed' THEN inputs END::json AS sealed
          FROM runners_run
         WHERE execution_id = %(execution)s AND epoch = %(epoch)s AND step_path = %(path)s
           AND NOT superseded AND inputs IS NOT NULL
         ORDER BY attempt DESC
         LIMIT 1) m,
       unnest(%(indexes)s::int[]) AS i
