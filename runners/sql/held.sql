-- Runs held now: as many as there are busy workers.
SELECT id, lease_token, leased_by, recoveries
  FROM runners_run
 WHERE state = 'RUNNING'
 ORDER BY due_at
 LIMIT %(batch)s
