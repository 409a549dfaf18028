--! plan each time
-- The executions of a range of ids that must stay, at most so many: unfinished ones, those whose time
-- is not over, and those with a dead letter. The most specific term speaks, as in `prune_walk`. The
-- dead letters of the range are read once, not for each execution.
SELECT e.id
  FROM executions_workflowexecution e
--+ term
 WHERE e.id >= %(first)s AND e.id < %(end)s
   AND (NOT coalesce(t.days > 0 AND e.finished_at < %(now)s - t.days * interval '1 day', false)
        OR e.id IN (SELECT l.execution_id FROM dlq_deadletterentry l
                     WHERE l.execution_id >= %(first)s AND l.execution_id < %(end)s))
 LIMIT %(most)s
