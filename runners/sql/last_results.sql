-- Return the newest run of each task of an execution; for a task of a body, the newest of all
-- iterations. At most `runs` runs are read. Of a value with more than `most` characters, only the
-- size is returned.
WITH looked AS MATERIALIZED (
    SELECT id, execution_id, task_id FROM runners_run
     WHERE execution_id = %(execution)s AND NOT superseded
     LIMIT %(runs)s),
  newest AS (
    SELECT DISTINCT ON (task_id) id, execution_id FROM looked ORDER BY task_id, id DESC LIMIT %(tasks)s)
SELECT r.id, r.step_path, r.state, r.outcome, r.error, r.error_type, r.started_at, r.finished_at,
       r.attempt, i.size, CASE WHEN i.size <= %(most)s THEN r.inputs END::json,
       o.size, CASE WHEN o.size <= %(most)s THEN r.outputs END::json
  FROM newest n
  JOIN runners_run r ON r.id = n.id
    AND (r.execution_id = n.execution_id OR r.execution_id BETWEEN n.execution_id AND n.execution_id)
 CROSS JOIN LATERAL (SELECT coalesce(greatest(
       pg_column_size(r.inputs),
       CASE WHEN pg_column_size(r.inputs) <= %(most)s THEN length(r.inputs::text) END), 0) AS size) i
 CROSS JOIN LATERAL (SELECT coalesce(greatest(
       pg_column_size(r.outputs),
       CASE WHEN pg_column_size(r.outputs) <= %(most)s THEN length(r.outputs::text) END), 0) AS size) o
 ORDER BY r.id
