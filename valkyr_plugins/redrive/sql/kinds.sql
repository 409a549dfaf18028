-- What kinds of entries a redrive's open queued items are: by version and step, turns of bodies
-- taken together. Executions are counted beside entries: several of one may go together.
SELECT d.workflow_id, e.version_id, d.version_number,
       regexp_replace(d.step_path, '\[\d+\]', '[0]', 'g') AS step,
       count(*), count(DISTINCT e.id)
  FROM dlq_redriveitem i
  JOIN dlq_deadletterentry d ON d.id = i.entry_id
  JOIN executions_workflowexecution e ON e.id = d.execution_id
 WHERE i.redrive_id = %(redrive)s AND i.state = 'QUEUED' AND d.resolution = 'PENDING'
 GROUP BY 1, 2, 3, 4
 ORDER BY count(*) DESC
 LIMIT %(most)s
