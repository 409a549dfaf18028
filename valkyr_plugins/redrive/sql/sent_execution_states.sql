-- Return the states of the new executions of sent items, and the first dead letter of each.
SELECT i.id, again.id, e.state
  FROM (SELECT id, execution_id
          FROM dlq_redriveitem
         WHERE redrive_id = %(redrive)s AND state = 'RUNNING' AND id > %(after)s
         ORDER BY id
         LIMIT %(most)s) i
  JOIN executions_workflowexecution e ON e.id = i.execution_id
  LEFT JOIN LATERAL (SELECT n.id
                       FROM dlq_deadletterentry n
                      WHERE n.execution_id = e.id
                      ORDER BY n.id
                      LIMIT 1) again ON true
 ORDER BY i.id
