--! plan each time
-- Lock executions in which something wakes, those awake too: one that is just falling asleep,
-- because everything in it waits as far as it can see, must see that something woke, or we that it
-- sleeps. Locked in the order of their ids, so that two that wake the same ones never wait in a
-- circle; OFFSET keeps it a look-up for each.
SELECT count(*)
  FROM (SELECT id FROM unnest(%(ids)s::uuid[]) AS id ORDER BY id) asked
 CROSS JOIN LATERAL (
       SELECT e.id FROM executions_workflowexecution e
        WHERE e.id = asked.id OFFSET 0 FOR NO KEY UPDATE) locked
