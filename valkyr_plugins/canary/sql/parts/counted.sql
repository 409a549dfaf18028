SELECT count(*),
       count(*) FILTER (WHERE state IN ('SUCCESS', 'FAILED', 'TIMEOUT')),
       count(*) FILTER (WHERE state IN ('FAILED', 'TIMEOUT')),
       count(*) FILTER (WHERE state = 'CANCELLED'),
       count(*) FILTER (
           WHERE state IN ('SUCCESS', 'RUNNING', 'PAUSED')
             AND extract(epoch FROM coalesce(finished_at, clock_timestamp()) - started_at)
                 > %(slow)s::float8
       ),
       percentile_cont(0.5) WITHIN GROUP (
           ORDER BY extract(epoch FROM finished_at - started_at)
       ) FILTER (WHERE state = 'SUCCESS'),
       percentile_cont(0.95) WITHIN GROUP (
           ORDER BY extract(epoch FROM finished_at - started_at)
       ) FILTER (WHERE state = 'SUCCESS'),
       (array_agg(id ORDER BY id DESC))[:%(ids)s]
