--! one partition: executions
-- Return what `load` returns, for many executions whose segments with the same path came in one
-- message. Each execution is looked up separately, however many there are; `LIMIT` prevents the
-- planner from reading one of the tables instead.
SELECT asked.id, found.*
  FROM unnest(%(executions)s::uuid[]) AS asked (id),
       LATERAL (
--+ segment_columns
 WHERE e.id = asked.id
   AND r.segment = %(segment)s AND coalesce(r.superseded, false) = false
   AND r.state IN ('PENDING', 'LEASED', 'RUNNING', 'WAITING')
 LIMIT 1
       ) found
