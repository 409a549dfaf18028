-- Return the next items of a redrive, with the data that determines how they are sent. `careful`
-- items need locks that must be taken before their execution's lock.
SELECT i.id, i.entry_id, d.resolution, d.run_id, d.execution_id, d.step_path, d.error_type, e.state,
       e.parent_id IS NOT NULL OR e.concurrency_key IS NOT NULL OR e.place <> 'HELD' AS careful
  FROM (SELECT id, entry_id
          FROM dlq_redriveitem
         WHERE redrive_id = %(redrive)s AND state = 'QUEUED' AND id > %(after)s
         ORDER BY id
         LIMIT %(most)s) i
  JOIN dlq_deadletterentry d ON d.id = i.entry_id
  JOIN executions_workflowexecution e ON e.id = d.execution_id
 ORDER BY i.id
