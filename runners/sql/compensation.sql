-- How far an execution's undo steps are; "" where none is due. The caller holds its lock.
SELECT compensation
  FROM executions_workflowexecution
 WHERE id = %(execution)s
