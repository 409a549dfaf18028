-- Resolve open dead letters as REQUEUED, each with its own new run or its own new execution. With 0
-- days, they never expire.
UPDATE dlq_deadletterentry d
   SET resolution = 'REQUEUED',
       resolved_at = clock_timestamp(),
       expires_at = clock_timestamp() + nullif(%(days)s::float8, 0) * interval '1 day',
       reviewed_by_id = %(reviewer)s,
       requeued_run_id = n.run,
       requeued_execution_id = n.execution,
       notes = CASE WHEN %(notes)s = '' THEN d.notes
                    WHEN d.notes = '' THEN %(notes)s
                    ELSE d.notes || E'\n' || %(notes)s END
  FROM unnest(%(ids)s::uuid[], %(runs)s::uuid[], %(executions)s::uuid[]) AS n(id, run, execution)
 WHERE d.id = n.id AND d.resolution = 'PENDING'
RETURNING d.id, d.group_id
