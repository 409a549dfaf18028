-- Return the next redrives with work, after the last one that had its turn. The order is circular:
-- the first follows the last.
SELECT r.id
  FROM ((SELECT id, 0 AS lap FROM dlq_redrive
          WHERE busy AND id > %(after)s ORDER BY id LIMIT %(most)s)
        UNION ALL
        (SELECT id, 1 FROM dlq_redrive
          WHERE busy AND id <= %(after)s ORDER BY id LIMIT %(most)s)) r
 ORDER BY r.lap, r.id
 LIMIT %(most)s
