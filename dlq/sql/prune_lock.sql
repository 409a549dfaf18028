-- Executions that are about to go, and the forks that are to forget them: locked in the order of
-- their ids, without waiting. Nobody starts, forks or revives anything of those that are locked.
SELECT e.id, e.origin_id
  FROM executions_workflowexecution e
 WHERE e.id IN (SELECT unnest(%(ids)s::uuid[])
                 UNION
                SELECT f.id
                  FROM executions_workflowexecution f
                 WHERE f.origin_id = ANY(%(ids)s::uuid[]))
 ORDER BY e.id
   FOR UPDATE OF e SKIP LOCKED
