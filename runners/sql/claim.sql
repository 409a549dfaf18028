--! one partition: execution
-- Take the segment's live run: pending and due, or held by nobody any more.
-- Races closed here:
--  * two workers with the same message: the token observed before must still be the row's;
--  * a pause or cancel that commits meanwhile: the CTE locks the execution FOR SHARE and re-reads
--    its state after the wait; the update depends on it, so it cannot slip past;
--  * an execution that gave up its place while it slept: woken, it waits for one again;
--  * a late holder: the token grows, and every later write compares it.
-- `(state = 'RUNNING') IS TRUE` keeps the planner on the primary key, whatever indexes have states.
WITH execution AS MATERIALIZED (
    SELECT id
      FROM executions_workflowexecution
     WHERE id = %(execution)s AND epoch = %(epoch)s AND (state = 'RUNNING') IS TRUE
       AND place = 'HELD'
       FOR SHARE
)
--+ taken
