-- Return the states of the steps of sent items, in their own executions: the newest dead letter
-- that follows the item's dead letter, and the execution's state. Also return the state of the
-- step's one live, successful or skipped run, and whether a roll-back removed the run that was
-- sent.
SELECT i.id, again.id, e.state, present.state, coalesce(r.superseded OR r.epoch <> e.epoch, true)
  FROM (SELECT id, entry_id, run_id, execution_id
          FROM dlq_redriveitem
         WHERE redrive_id = %(redrive)s AND state = 'RUNNING' AND id > %(after)s
         ORDER BY id
         LIMIT %(most)s) i
  JOIN dlq_deadletterentry d ON d.id = i.entry_id
  JOIN executions_workflowexecution e ON e.id = i.execution_id
  LEFT JOIN runners_run r ON r.id = i.run_id
  LEFT JOIN LATERAL (SELECT n.id
                       FROM dlq_deadletterentry n
                      WHERE n.follows_id = i.entry_id
                      ORDER BY n.id DESC
                      LIMIT 1) again ON true
  LEFT JOIN LATERAL (SELECT p.state
                       FROM runners_run p
                      WHERE p.execution_id = e.id AND p.epoch = e.epoch
                        AND p.step_path = d.step_path AND NOT p.superseded
                        AND p.state IN ('LEASED', 'PENDING', 'RUNNING', 'SKIPPED', 'SUCCESS',
                                        'WAITING')) present ON true
 ORDER BY i.id
