-- The workspace of an execution that ended, if anything waits there for a place.
SELECT own.workspace_id
  FROM executions_workflowexecution own
 WHERE own.id = %(ended)s
   AND EXISTS (SELECT 1 FROM executions_workflowexecution w
                WHERE w.workspace_id = own.workspace_id AND w.state = 'PENDING')
