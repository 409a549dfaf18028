-- Executions that are about to go, and the forks that are to forget them: locked in the order of
-- their ids, without waiting. Nobody starts, forks or revives anything of those that are locked.
SELECT e.id, e.origin_id
  FROM executions_workflowexecution e
 WHERE e.id = ANY(%(ids)s::uuid[]) OR e.origin_id = ANY(%(ids)s::uuid[])
 ORDER BY e.id
   FOR UPDATE SKIP LOCKED
