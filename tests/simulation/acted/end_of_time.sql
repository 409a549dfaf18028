-- An execution's time is over; if somebody has it locked now, it is not yet.
UPDATE executions_workflowexecution
   SET deadline_at = statement_timestamp() - interval '1 s'
 WHERE id IN (SELECT id FROM executions_workflowexecution
               WHERE id = %(execution)s AND state IN ('RUNNING', 'PAUSED') FOR UPDATE SKIP LOCKED)
