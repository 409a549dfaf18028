-- Children ended longer ago; if somebody has one locked now, it did not.
UPDATE executions_workflowexecution
   SET finished_at = finished_at - interval '6 s'
 WHERE id IN (SELECT id FROM executions_workflowexecution
               WHERE parent_run_id IS NOT NULL AND finished_at IS NOT NULL FOR UPDATE SKIP LOCKED)
