-- Move items that were sent in this transaction from QUEUED to RUNNING, with their new run or
-- execution.
UPDATE dlq_redriveitem i
   SET state = 'RUNNING', run_id = n.run, execution_id = n.execution, sent_at = clock_timestamp(),
       reason = ''
  FROM unnest(%(ids)s::bigint[], %(runs)s::uuid[], %(executions)s::uuid[])
       AS n(id, run, execution)
 WHERE i.id = n.id AND i.state = 'QUEUED'
RETURNING i.id
