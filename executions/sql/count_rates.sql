--! plan each time
-- Count one more event for each rate in its current window, which begins with the first event. The
-- rows are locked in the order of their keys, so that two such statements cannot deadlock.
INSERT INTO executions_ratecount AS r (key, used, ends_at)
SELECT asked.key, 1, c.now + %(seconds)s * interval '1 second'
  FROM (SELECT key FROM unnest(%(keys)s::text[]) AS key ORDER BY key) asked
 CROSS JOIN clock_timestamp() AS c (now)
ON CONFLICT (key) DO UPDATE
   SET used = CASE WHEN r.ends_at > clock_timestamp() THEN r.used + 1 ELSE 1 END,
       ends_at = CASE WHEN r.ends_at > clock_timestamp() THEN r.ends_at ELSE EXCLUDED.ends_at END
RETURNING r.key, r.used, extract(epoch FROM r.ends_at - clock_timestamp())::float8
