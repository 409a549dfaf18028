--! plan each time
-- Return which of the locked families can be deleted together: the IDs of their executions, and
-- their first and last end. A family is left to `prune_families` if one of its executions is
-- unfinished, not expired, outside of the partition, or kept by a plugin. It is also left if a dead
-- letter, a fork or a refused message refers to it. `low` and `high` are the limits of all these
-- IDs: each table is read by one range of an index, instead of one lookup for each execution.
WITH member AS MATERIALIZED (
     SELECT r.id AS root, r.id FROM unnest(%(roots)s::uuid[]) AS r (id)
      UNION ALL
     SELECT n.root, n.id FROM unnest(%(of)s::uuid[], %(kin)s::uuid[]) AS n (root, id)),
  aged AS MATERIALIZED (
     SELECT m.root, m.id, e.finished_at,
            coalesce(t.days > 0 AND e.finished_at < %(now)s - t.days * interval '1 day'
                     AND e.finished_at < %(before)s, false)
            AND e.id >= %(first)s::uuid AND e.id < %(end)s::uuid AS over
       FROM member m
       JOIN executions_workflowexecution e ON e.id = m.id
--+ retention_period
      WHERE e.id BETWEEN %(low)s::uuid AND %(high)s::uuid),
  needed (id) AS MATERIALIZED (
     SELECT l.execution_id FROM dlq_deadletterentry l
      WHERE l.execution_id BETWEEN %(low)s::uuid AND %(high)s::uuid
      UNION ALL
     SELECT l.requeued_execution_id FROM dlq_deadletterentry l
      WHERE l.requeued_execution_id BETWEEN %(low)s::uuid AND %(high)s::uuid
      UNION ALL
     SELECT f.origin_id FROM executions_workflowexecution f
      WHERE f.origin_id BETWEEN %(low)s::uuid AND %(high)s::uuid
      UNION ALL
     SELECT m.execution_id FROM executions_refusedmessage m
      WHERE m.execution_id BETWEEN %(low)s::uuid AND %(high)s::uuid
      UNION ALL
     SELECT unnest(%(kept)s::uuid[])),
  stays AS MATERIALIZED (
     SELECT a.root FROM aged a WHERE NOT a.over
      UNION
     SELECT m.root FROM member m WHERE m.id IN (SELECT n.id FROM needed n))
SELECT array_agg(a.id)::text, min(a.finished_at), max(a.finished_at)
  FROM aged a
 WHERE a.root NOT IN (SELECT s.root FROM stays s)
