-- The next redrives with work after the last one that had its turn, in a ring: the last is followed
-- by the first.
SELECT r.id
  FROM ((SELECT id, 0 AS lap FROM dlq_redrive
          WHERE busy AND id > %(after)s ORDER BY id LIMIT %(most)s)
        UNION ALL
        (SELECT id, 1 FROM dlq_redrive
          WHERE busy AND id <= %(after)s ORDER BY id LIMIT %(most)s)) r
 ORDER BY r.lap, r.id
 LIMIT %(most)s
