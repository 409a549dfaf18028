-- Count failed attempts by the time slot in which they failed, workflow, and state (FAILED or DLQ).
-- Only attempts that were queued since the time of the ID `first` are read, by the small index of
-- runs that ended badly.
SELECT x.slot, x.workspace_id, x.workflow_id, x.state, count(*)
  FROM (SELECT floor(extract(epoch FROM r.finished_at - %(since)s)
                     / extract(epoch FROM %(length)s))::int AS slot,
               e.workspace_id, e.workflow_id, r.state
          FROM runners_run AS r
          JOIN executions_workflowexecution AS e ON e.id = r.execution_id
         WHERE r.state IN ('FAILED', 'DLQ')
           AND r.id >= %(first)s
           AND r.finished_at >= %(since)s
           AND r.finished_at < %(since)s + %(slots)s * %(length)s
           AND {scope}
         LIMIT %(most)s::bigint * %(slots)s) AS x
 GROUP BY 1, 2, 3, 4
