-- Return the family of each root: the numbers of executions and runs, the reason why the family is
-- kept (the highest of its members; 0: it can be deleted), and at most `most` members, the deepest
-- descendants first. A family is a root, all executions that it started, and those that handle
-- their failures.
-- Reasons:
--  * 5: a member has not ended;
--  * 4: a member's retention period has not ended;
--  * 3: a dead letter is open;
--  * 2: there is another dead letter;
--  * 1: an unfinished fork began from a member.
-- A preview passes `expired` and `resolved`; otherwise, both are null. Pruning deletes the dead
-- letters that they select before executions. So these dead letters count as deleted, except those
-- in `held`.
-- Each question has its own subquery, which an index answers. The planner could answer a plain
-- EXISTS for all rows at once, by reading the whole table.
WITH RECURSIVE member (root, id, depth) AS (
     SELECT r.id, r.id, 0 FROM unnest(%(roots)s::uuid[]) AS r (id)
      UNION ALL
     SELECT m.root, c.id, m.depth + 1
       FROM member m
      CROSS JOIN LATERAL (
            SELECT e.id FROM executions_workflowexecution e WHERE e.parent_id = m.id
             UNION ALL
            SELECT e.id FROM executions_workflowexecution e WHERE e.failure_of_id = m.id) c),
  once AS (SELECT m.root, m.id, max(m.depth) AS depth FROM member m GROUP BY m.root, m.id)
SELECT m.root, count(*), sum(x.runs)::bigint, max(x.reason),
       (array_agg(m.id ORDER BY m.depth DESC, m.id))[1:%(most)s]
  FROM once m
  JOIN executions_workflowexecution e ON e.id = m.id
--+ retention_period
  LEFT JOIN LATERAL (
       SELECT max(CASE WHEN l.resolution = 'PENDING' THEN 3 ELSE 2 END) AS reason
         FROM (SELECT a.id, a.execution_id, a.workflow_id, a.resolution, a.pinned, a.expires_at,
                      a.resolved_at
                 FROM dlq_deadletterentry a WHERE a.execution_id = e.id
                UNION ALL
               SELECT b.id, b.execution_id, b.workflow_id, b.resolution, b.pinned, b.expires_at,
                      b.resolved_at
                 FROM dlq_deadletterentry b WHERE b.requeued_execution_id = e.id) l
        WHERE NOT coalesce(
              l.resolution <> 'PENDING' AND NOT l.pinned
              AND (l.expires_at <= %(expired)s::timestamptz
                   OR l.resolved_at < %(resolved)s::timestamptz)
              AND (%(workflow)s::uuid IS NULL OR l.workflow_id = %(workflow)s::uuid)
              AND (SELECT o.finished_at IS NOT NULL
                          AND (%(states)s::text[] IS NULL OR o.state = ANY(%(states)s::text[]))
                     FROM executions_workflowexecution o WHERE o.id = l.execution_id)
              AND l.id <> ALL(%(held)s::uuid[]), false)) l ON true
 CROSS JOIN LATERAL (
       SELECT (SELECT count(*) FROM runners_run r WHERE r.execution_id = e.id) AS runs,
              CASE WHEN e.finished_at IS NULL THEN 5
                   WHEN coalesce(t.days, 0) = 0
                        OR e.finished_at >= %(now)s - t.days * interval '1 day'
                        OR e.finished_at >= %(before)s THEN 4
                   WHEN l.reason IS NOT NULL THEN l.reason
                   WHEN (SELECT f.id FROM executions_workflowexecution f
                          WHERE f.origin_id = e.id AND f.finished_at IS NULL LIMIT 1) IS NOT NULL
                   THEN 1
                   ELSE 0 END AS reason) x
 GROUP BY m.root
