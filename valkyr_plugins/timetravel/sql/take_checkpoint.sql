-- Store the current variables under the next number, and delete the oldest automatic checkpoints.
-- The caller holds the execution's lock, so that no number is used twice. Number 0 is the start of
-- a fork, and is kept.
WITH taken AS (
    INSERT INTO executions_checkpoint (
        id, execution_id, kind, name, step_path, epoch, sequence, variables, created_by_id,
        created_at
    )
    SELECT %(id)s, e.id, %(kind)s, %(name)s, %(step_path)s, e.epoch,
           (SELECT coalesce(max(sequence), 0) + 1
              FROM executions_checkpoint WHERE execution_id = %(execution)s),
           e.context_data, %(actor)s::{user_type}, clock_timestamp()
      FROM executions_workflowexecution e
     WHERE e.id = %(execution)s
)
DELETE FROM executions_checkpoint
 WHERE id IN (SELECT id
                FROM executions_checkpoint
               WHERE execution_id = %(execution)s AND kind = 'AUTO' AND sequence > 0
               ORDER BY sequence DESC
              OFFSET %(others)s)
