-- Hold the execution while its next steps are planned. FOR NO KEY UPDATE: inserting a run takes
-- FOR KEY SHARE on the same row, and must not wait for us. Never reads the JSON.
SELECT state, epoch, priority, version_id, workflow_id, workspace_id
  FROM executions_workflowexecution
 WHERE id = %(execution)s
   FOR NO KEY UPDATE
