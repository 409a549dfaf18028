--! plan each time
-- Return those of the given executions in whose tree a step was approved. The tree has the
-- execution, its parents, and all executions that these started. Each tree is read once.
WITH RECURSIVE up AS (
    SELECT e.id AS asked, e.id, e.parent_id
      FROM executions_workflowexecution e
     WHERE e.id = ANY(%(ids)s)
    UNION ALL
    SELECT up.asked, e.id, e.parent_id
      FROM up
      JOIN executions_workflowexecution e ON e.id = up.parent_id
), family AS (
    SELECT DISTINCT up.id AS root, up.id
      FROM up
     WHERE up.parent_id IS NULL
    UNION ALL
    SELECT f.root, e.id
      FROM family f
      JOIN executions_workflowexecution e ON e.parent_id = f.id
), approved AS MATERIALIZED (
    SELECT DISTINCT f.root
      FROM family f
     WHERE EXISTS (
           SELECT 1
             FROM (SELECT waits_for, outcome, superseded
                     FROM runners_run WHERE execution_id = f.id AND state = 'SUCCESS' OFFSET 0) r
            WHERE r.waits_for = 'approval' AND r.outcome = 'approved' AND NOT r.superseded)
)
SELECT up.asked
  FROM up
  JOIN approved a ON a.root = up.id
