-- The newest entries of a group, counted by each facet, all in one pass over them. The index of a
-- group's entries is by resolution, so the newest of each are read and the newest of those kept.
WITH newest AS MATERIALIZED (
    SELECT e.*
      FROM unnest(%(resolutions)s::text[]) AS r (resolution)
     CROSS JOIN LATERAL (
        SELECT id, version_number, worker, http_status, target, exception,
               regexp_replace(step_path, '\[\d+\]', '[]', 'g') AS place, workspace_id
          FROM dlq_deadletterentry
         WHERE group_id = %(group)s AND resolution = r.resolution
         ORDER BY id DESC
         LIMIT %(most)s) e
     ORDER BY e.id DESC
     LIMIT %(most)s
)
SELECT grouping(version_number, worker, http_status, target, exception, place, workspace_id),
       coalesce(version_number::text, worker, http_status::text, target, exception, place,
                workspace_id::text, ''),
       count(*)
  FROM newest
 GROUP BY GROUPING SETS ((version_number), (worker), (http_status), (target), (exception), (place),
                         (workspace_id), ())
