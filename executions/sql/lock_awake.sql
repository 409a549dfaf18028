--! plan each time
-- Lock executions in which something wakes, those awake too: one that is just falling asleep,
-- because everything in it waits as far as it can see, must see that something woke, or we that it
-- sleeps. Locked in the order of their ids, so that two that wake the same ones never wait in a
-- circle.
SELECT count(*) FROM (
    SELECT id FROM executions_workflowexecution
     WHERE id = ANY(%(ids)s) ORDER BY id FOR NO KEY UPDATE
) locked
