-- Clear the logs of the steps of the next finished executions, in the order of their ends. With
-- `looking`, only count them. Return the number of runs with logs, and of the executions that were
-- read: their number, first and last end, and the ID of the last.
WITH walked AS MATERIALIZED (
     SELECT e.id, e.finished_at, e.workspace_id, e.workflow_id, e.state
       FROM executions_workflowexecution e
      WHERE e.finished_at < %(before)s
        AND e.finished_at >= %(at)s
        AND (e.finished_at, e.id) > (%(at)s, %(id)s)
      ORDER BY e.finished_at, e.id
      LIMIT %(chunk)s),
  logged AS MATERIALIZED (
     SELECT r.id, r.execution_id
       FROM walked w JOIN runners_run r ON r.execution_id = w.id
      WHERE r.logs IS NOT NULL
        AND (%(workspace)s::uuid IS NULL OR w.workspace_id = %(workspace)s::uuid)
        AND (%(workflow)s::uuid IS NULL OR w.workflow_id = %(workflow)s::uuid)
        AND (%(states)s::text[] IS NULL OR w.state = ANY(%(states)s::text[]))
        FOR UPDATE OF r SKIP LOCKED),
  cleared AS (
     UPDATE runners_run r SET logs = NULL FROM logged
      WHERE r.id = logged.id
        AND (r.execution_id = logged.execution_id OR r.execution_id BETWEEN logged.execution_id AND logged.execution_id)
        AND NOT %(looking)s
  RETURNING 1)
SELECT CASE WHEN %(looking)s THEN (SELECT count(*) FROM logged)
            ELSE (SELECT count(*) FROM cleared) END,
       count(*), min(finished_at), max(finished_at), (array_agg(id ORDER BY finished_at, id))[count(*)]
  FROM walked
