--! one partition: execution
-- Claim the segment's live run, if it is pending and due, or if its lease or its holder has ended.
-- Races that this prevents:
--  * two workers with the same message: the row must still have the token that the worker read;
--  * a pause or cancellation that commits meanwhile: the CTE locks the execution FOR SHARE, and
--    reads its state again after the wait. The update depends on the CTE, so that the claim fails;
--  * an execution that released its slot while all its runs waited: after it wakes, no run can be
--    claimed until it holds a slot again;
--  * a late holder: the token grows, and every later write compares it.
-- `(state = 'RUNNING') IS TRUE` makes the planner use the primary key instead of an index on
-- states.
WITH execution AS MATERIALIZED (
    SELECT id
      FROM executions_workflowexecution
     WHERE id = %(execution)s AND epoch = %(epoch)s AND (state = 'RUNNING') IS TRUE
       AND place = 'HELD'
       FOR SHARE
)
--+ claim_run
