-- Lock the execution while its next steps are planned. FOR NO KEY UPDATE, because the insert of a
-- run takes FOR KEY SHARE on the same row, and must not wait for this lock. Do not read JSON
-- columns here.
SELECT state, epoch, priority, version_id, workflow_id, workspace_id
  FROM executions_workflowexecution
 WHERE id = %(execution)s
   FOR NO KEY UPDATE
