-- Return leased runs whose lease has expired, and whether each has passed its deadline. `due_at` is
-- the end of the first lease, and a renewal does not change it. So the index finds the few runs
-- that are older than one lease.
SELECT id, execution_id, lease_token, leased_by, crashes, queue,
       coalesce(deadline_at <= clock_timestamp(), false)
  FROM runners_run
 WHERE finished_at IS NULL AND state IN ('LEASED', 'RUNNING') AND due_at <= statement_timestamp()
   AND lease_until <= statement_timestamp()
 ORDER BY due_at
 LIMIT %(batch)s
