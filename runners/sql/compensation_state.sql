-- Return the progress of an execution's undo steps; '' if it is not being undone. The caller holds
-- the execution's lock.
SELECT compensation
  FROM executions_workflowexecution
 WHERE id = %(execution)s
