-- Delete checkpoints of executions that ended at least `hours` hours ago, the oldest first, but
-- never the first one of a fork.
DELETE FROM executions_checkpoint
 WHERE id IN (SELECT c.id
                FROM executions_checkpoint c
                JOIN executions_workflowexecution e ON e.id = c.execution_id
               WHERE c.created_at < clock_timestamp() - %(hours)s * interval '1 hour'
                 AND c.sequence > 0
                 AND e.finished_at < clock_timestamp() - %(hours)s * interval '1 hour'
               ORDER BY c.created_at
               LIMIT %(batch)s)
RETURNING id
