-- Return the next running migrations, after the last one that had its turn. The order is circular:
-- the first follows the last.
SELECT m.id
  FROM ((SELECT id, 0 AS lap FROM valkyr_version_migration_executionmigration
          WHERE state = 'RUNNING' AND id > %(after)s ORDER BY id LIMIT %(most)s)
        UNION ALL
        (SELECT id, 1 FROM valkyr_version_migration_executionmigration
          WHERE state = 'RUNNING' AND id <= %(after)s ORDER BY id LIMIT %(most)s)) m
 ORDER BY m.lap, m.id
 LIMIT %(most)s
