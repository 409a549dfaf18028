--! plan each time
-- Lock the executions whose runs will wake, including those that hold their slots. Another
-- transaction may release such a slot now, because all runs that it sees wait. The lock ensures
-- that either it sees the woken run, or this transaction sees the released slot.
-- The rows are locked in the order of their IDs, so that two transactions that wake the same
-- executions cannot deadlock. `OFFSET 0` keeps one lookup for each ID.
SELECT count(*)
  FROM (SELECT id FROM unnest(%(ids)s::uuid[]) AS id ORDER BY id) asked
 CROSS JOIN LATERAL (
       SELECT e.id FROM executions_workflowexecution e
        WHERE e.id = asked.id OFFSET 0 FOR NO KEY UPDATE) locked
