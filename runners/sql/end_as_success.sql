--! one partition: execution
-- Move an execution from RUNNING to SUCCESS, in the transaction that has just recorded its last
-- run: only if that record was written and no other run is live. A separate statement locked the
-- execution before the record. So this statement sees everything that was committed before the lock
-- was taken.
-- Races that this prevents:
--  * a holder that lost its lease: the run must have succeeded under its token;
--  * a pause, cancellation, timeout, roll-back or undo: the execution must be RUNNING, of this
--    epoch, and not being undone.
UPDATE executions_workflowexecution x
   SET state = 'SUCCESS',
       place = 'HELD',
       output = %(output)s::jsonb,
       error_message = '',
       error_stack_trace = '',
       metrics_snapshot = (
--+ figures
       )::jsonb,
       finished_at = clock_timestamp()
 WHERE x.id = %(execution)s AND x.epoch = %(epoch)s AND (x.state = 'RUNNING') IS TRUE
   AND x.compensation = ''
   AND EXISTS (SELECT 1 FROM runners_run o
                WHERE o.id = %(run)s
                  AND (o.execution_id = %(execution)s OR o.execution_id BETWEEN %(execution)s AND %(execution)s)
                  AND (o.state = 'SUCCESS') IS TRUE
                  AND o.lease_token = %(token)s AND o.leased_by = %(holder)s)
   AND NOT EXISTS (SELECT 1 FROM runners_run o
                    WHERE o.execution_id = %(execution)s
                      AND o.state IN ('PENDING', 'LEASED', 'RUNNING', 'WAITING')
                      AND (o.state <> 'WAITING' OR o.waits_for <> 'body'))
RETURNING
--+ ended_columns
