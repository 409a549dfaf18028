-- Count the newest dead letters of a group by each facet, in one pass. The index of a group's dead
-- letters is ordered by resolution. So the newest dead letters of each resolution are read, and the
-- newest of these are counted.
-- The first column is the mask of `grouping`, which names the facet. The row without a facet has
-- the number of dead letters that were counted.
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
