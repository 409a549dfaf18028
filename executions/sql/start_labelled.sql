-- Insert new executions as `start` does, and a row for each of their labels.
--+ new_executions
    RETURNING id, workspace_id, workflow_id, state, labels
), labelled AS (
    INSERT INTO executions_executionlabel (
        execution_id, workspace_id, workflow_id, state, name, value)
    SELECT i.id, i.workspace_id, i.workflow_id, i.state, l.key, l.value
      FROM inserted AS i CROSS JOIN jsonb_each_text(i.labels) AS l
     WHERE i.labels IS NOT NULL
)
SELECT now FROM moment
