-- Return the trigger of an execution that ended, if ticks of its schedule are queued.
SELECT own.trigger_id
  FROM executions_workflowexecution own
 WHERE own.id = %(ended)s
   AND EXISTS (SELECT 1 FROM executions_crontick t
                WHERE t.trigger_id = own.trigger_id AND t.status = 'QUEUED' OFFSET 0)
