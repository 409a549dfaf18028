--! plan each time
-- Return executions of a range of IDs that must be kept, at most `most`: unfinished executions,
-- executions whose retention period has not ended, and executions with a dead letter. The most
-- specific retention period applies, as in `prune_expired_roots`. The dead letters of the range are
-- read once, not once for each execution.
SELECT e.id
  FROM executions_workflowexecution e
--+ retention_period
 WHERE e.id >= %(first)s AND e.id < %(end)s
   AND (NOT coalesce(t.days > 0 AND e.finished_at < %(now)s - t.days * interval '1 day', false)
        OR e.id IN (SELECT l.execution_id FROM dlq_deadletterentry l
                     WHERE l.execution_id >= %(first)s AND l.execution_id < %(end)s))
 LIMIT %(most)s
