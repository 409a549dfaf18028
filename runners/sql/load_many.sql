--! one partition: executions
-- What `load` reads, of many executions whose segments of one path came with one message. Each is looked
-- up by itself (`LIMIT` keeps the planner from reading one of the tables instead), however many come.
SELECT asked.id, found.*
  FROM unnest(%(executions)s::uuid[]) AS asked (id),
       LATERAL (
--+ loaded
 WHERE e.id = asked.id
   AND r.segment = %(segment)s AND coalesce(r.superseded, false) = false
   AND r.state IN ('PENDING', 'LEASED', 'RUNNING', 'WAITING')
 LIMIT 1
       ) found
