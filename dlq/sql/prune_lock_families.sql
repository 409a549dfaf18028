--! plan each time
-- Lock the next ended executions of a range of IDs, and the descendants of the roots among them;
-- skip rows that another transaction has locked. Return the last ID, the roots, and each descendant
-- with its root. A root is omitted if another transaction has locked a descendant. Roots with
-- descendants are omitted if there are at least `most` descendants.
WITH RECURSIVE chunk AS MATERIALIZED (
     SELECT e.id, e.parent_id IS NULL AND e.failure_of_id IS NULL AS root
       FROM executions_workflowexecution e
      WHERE e.id > %(after)s::uuid AND e.id < %(end)s::uuid AND e.finished_at < %(before)s
      ORDER BY e.id
      LIMIT %(chunk)s
        FOR UPDATE SKIP LOCKED),
  reached AS MATERIALIZED (SELECT k.id FROM chunk k ORDER BY k.id DESC LIMIT 1),
  started AS MATERIALIZED (
     SELECT c.parent_id AS by, c.id FROM executions_workflowexecution c
      WHERE c.parent_id > %(after)s::uuid AND c.parent_id <= (SELECT r.id FROM reached r)
      UNION
     SELECT c.failure_of_id, c.id FROM executions_workflowexecution c
      WHERE c.failure_of_id > %(after)s::uuid AND c.failure_of_id <= (SELECT r.id FROM reached r)),
  member (root, id) AS (
     SELECT k.id, s.id FROM chunk k JOIN started s ON s.by = k.id WHERE k.root
      UNION
     SELECT m.root, c.id
       FROM member m
      CROSS JOIN LATERAL (
            SELECT e.id FROM executions_workflowexecution e WHERE e.parent_id = m.id
             UNION ALL
            SELECT e.id FROM executions_workflowexecution e WHERE e.failure_of_id = m.id) c),
  kin AS MATERIALIZED (SELECT m.root, m.id FROM member m LIMIT %(most)s),
  held AS MATERIALIZED (
     SELECT e.id FROM executions_workflowexecution e
      WHERE e.id IN (SELECT n.id FROM kin n)
        FOR UPDATE OF e SKIP LOCKED),
  torn AS MATERIALIZED (
     SELECT n.root FROM kin n WHERE n.id NOT IN (SELECT h.id FROM held h)
      UNION
     SELECT s.by FROM started s WHERE (SELECT count(*) FROM kin n) >= %(most)s)
SELECT (SELECT r.id FROM reached r),
       (SELECT array_agg(k.id ORDER BY k.id)::text FROM chunk k
         WHERE k.root AND k.id NOT IN (SELECT t.root FROM torn t)),
       (SELECT array_agg(n.root)::text FROM kin n WHERE n.root NOT IN (SELECT t.root FROM torn t)),
       (SELECT array_agg(n.id)::text FROM kin n WHERE n.root NOT IN (SELECT t.root FROM torn t))
