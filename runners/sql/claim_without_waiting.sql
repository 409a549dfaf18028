--! one partition: execution
-- Claim a live run as `claim` does, in the transaction that records the end of another execution.
-- That transaction has locked rows, so this statement must not wait for locks. If another
-- transaction has locked the execution or the run, nothing is claimed, and the caller runs `claim`
-- afterwards.
-- `(state = 'RUNNING') IS TRUE` makes the planner use the primary key instead of an index on
-- states.
WITH execution AS MATERIALIZED (
    SELECT x.id
      FROM executions_workflowexecution x CROSS JOIN runners_run q
     WHERE x.id = %(execution)s AND x.epoch = %(epoch)s AND (x.state = 'RUNNING') IS TRUE
       AND x.place = 'HELD' AND q.id = %(run)s
       AND (q.execution_id = %(execution)s OR q.execution_id BETWEEN %(execution)s AND %(execution)s)
       FOR SHARE OF x SKIP LOCKED
       FOR NO KEY UPDATE OF q SKIP LOCKED
)
--+ claim_run
