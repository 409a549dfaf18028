-- Lock reserved runs that can be leased now, and their executions, until the transaction ends.
-- Races that this prevents:
--  * a pause or cancellation that commits meanwhile: the execution is locked FOR SHARE, and its
--    state is read again. An execution that a worker is planning is skipped;
--  * a deadlock: the executions are locked first, without waiting. Then the runs are locked in the
--    order of their IDs, with waiting: `reserve_runs` locks runs for a moment when it looks for
--    candidates.
WITH reserved AS MATERIALIZED (
    SELECT n.id, n.token, r.execution_id, r.epoch
      FROM json_to_recordset(%(rows)s::json) AS n (id uuid, execution uuid, token int)
      JOIN runners_run r ON r.id = n.id
        AND (r.execution_id = n.execution OR r.execution_id BETWEEN n.execution AND n.execution)
), executions AS MATERIALIZED (
    SELECT e.id, e.epoch
      FROM executions_workflowexecution e
     WHERE e.id IN (SELECT execution_id FROM reserved)
       AND (e.state = 'RUNNING') IS TRUE AND e.place = 'HELD'
       FOR SHARE SKIP LOCKED
)
SELECT r.id
  FROM reserved v
  JOIN executions e ON e.id = v.execution_id AND e.epoch = v.epoch
  JOIN runners_run r ON r.id = v.id
    AND (r.execution_id = v.execution_id OR r.execution_id BETWEEN v.execution_id AND v.execution_id)
 WHERE r.lease_token = v.token AND (r.state = 'PENDING') IS TRUE AND r.epoch = e.epoch
 ORDER BY r.id
   FOR UPDATE OF r
