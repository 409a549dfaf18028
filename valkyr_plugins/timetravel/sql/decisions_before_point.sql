-- Return what users had decided by a point: approvals, and steps that waited for a child execution
-- in which a user decided, each with the time when its first attempt began. A step that a fork
-- copied has no child of its own: its child is that of the run from which it was copied. If that
-- run was deleted, a decision is assumed.
WITH RECURSIVE past AS (
    SELECT r.id, r.execution_id, r.step_path, r.waits_for, r.cached_from
      FROM runners_run r
     WHERE r.execution_id = %(execution)s AND r.epoch = %(epoch)s AND NOT r.superseded
       AND r.state = 'SUCCESS' AND r.waits_for IN ('approval', 'child')
       AND (r.finished_at, r.id) <= (%(at)s, %(last)s) AND r.step_path <> %(before)s
), copied AS (
    SELECT p.step_path, p.id, p.execution_id, p.cached_from, false AS gone
      FROM past p
     WHERE p.waits_for = 'child'
    UNION ALL
    SELECT c.step_path, r.id, r.execution_id, r.cached_from, r.id IS NULL
      FROM copied c
      LEFT JOIN runners_run r ON r.id = c.cached_from
     WHERE c.cached_from IS NOT NULL
), called AS (
    SELECT c.step_path, e.id
      FROM copied c
      JOIN executions_workflowexecution e
        ON e.parent_id = c.execution_id AND e.parent_run_id = c.id
    UNION
    SELECT c.step_path, e.id
      FROM called c
      JOIN executions_workflowexecution e ON e.parent_id = c.id
), decided AS (
    SELECT step_path FROM past WHERE waits_for = 'approval'
    UNION
    SELECT step_path FROM copied WHERE gone
    UNION
    SELECT c.step_path
      FROM called c
     WHERE EXISTS (
           SELECT 1 FROM runners_run r
            WHERE r.execution_id = c.id AND r.waits_for = 'approval' AND r.state = 'SUCCESS'
              AND NOT r.superseded)
)
SELECT d.step_path, first.began
  FROM decided d
 CROSS JOIN LATERAL (
       SELECT coalesce(r.started_at, r.queued_at) AS began
         FROM runners_run r
        WHERE r.execution_id = %(execution)s AND r.epoch = %(epoch)s AND NOT r.superseded
          AND r.step_path = d.step_path
        ORDER BY r.attempt
        LIMIT 1) first
