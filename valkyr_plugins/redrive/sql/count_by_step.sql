-- Count the open ones of some dead letters by version and step; all iterations of a body count as
-- one step. Also count their executions, because one execution may have several dead letters.
SELECT d.workflow_id, e.version_id, d.version_number,
       regexp_replace(d.step_path, '\[\d+\]', '[0]', 'g') AS step,
       count(*), count(DISTINCT e.id)
  FROM unnest(%(entries)s::uuid[]) AS i (entry_id)
  JOIN dlq_deadletterentry d ON d.id = i.entry_id
  JOIN executions_workflowexecution e ON e.id = d.execution_id
 WHERE d.resolution = 'PENDING'
 GROUP BY 1, 2, 3, 4
 ORDER BY count(*) DESC
 LIMIT %(most)s
