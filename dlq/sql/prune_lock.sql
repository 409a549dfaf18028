-- Lock the executions that will be deleted, and their forks, whose origin will be cleared. The rows
-- are locked in the order of their IDs; rows that another transaction has locked are skipped. While
-- an execution is locked, no other transaction can start a child of it, fork it, or reopen it.
SELECT e.id, e.origin_id
  FROM executions_workflowexecution e
 WHERE e.id IN (SELECT unnest(%(ids)s::uuid[])
                 UNION
                SELECT f.id
                  FROM executions_workflowexecution f
                 WHERE f.origin_id = ANY(%(ids)s::uuid[]))
 ORDER BY e.id
   FOR UPDATE OF e SKIP LOCKED
