--! one partition: execution
-- Take a live run as `claim` does, in the transaction that records the end of another execution: that
-- one's rows are locked, so this waits for nobody. Where somebody else has the execution or the run
-- locked nothing is taken, and `claim` is tried afterwards.
-- `(state = 'RUNNING') IS TRUE` keeps the planner on the primary key, whatever indexes have states.
WITH execution AS MATERIALIZED (
    SELECT x.id
      FROM executions_workflowexecution x CROSS JOIN runners_run q
     WHERE x.id = %(execution)s AND x.epoch = %(epoch)s AND (x.state = 'RUNNING') IS TRUE
       AND x.place = 'HELD' AND q.id = %(run)s
       AND (q.execution_id = %(execution)s OR q.execution_id BETWEEN %(execution)s AND %(execution)s)
       FOR SHARE OF x SKIP LOCKED
       FOR NO KEY UPDATE OF q SKIP LOCKED
)
--+ taken
