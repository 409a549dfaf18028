-- With `survey`: whether another run of the execution is live, except containers that wait for
-- their bodies.
       CASE WHEN %(survey)s THEN EXISTS (
           SELECT 1 FROM runners_run o
            WHERE o.execution_id = %(execution)s AND o.id <> %(run)s
              AND o.state IN ('PENDING', 'LEASED', 'RUNNING', 'WAITING')
              AND (o.state <> 'WAITING' OR o.waits_for <> 'body')) END
