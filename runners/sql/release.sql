--! one partition: execution
-- Set a leased run back to pending; the higher token fences its holder. With a delay, the caller
-- does not send the run: the sweeper sends it when it is due. A claim increases the token. So a run
-- that is pending under the given token belongs to a process that ended before it claimed the run.
UPDATE runners_run r
   SET state = 'PENDING', lease_token = r.lease_token + 1, leased_by = '', lease_until = NULL,
       recoveries = r.recoveries + %(lost)s,
       crashes = r.crashes + %(crashed)s,
       crash_cause = CASE WHEN %(crashed)s > 0 THEN %(cause)s ELSE r.crash_cause END,
       suspect = r.suspect OR %(suspect)s,
       retry_after = CASE WHEN d.delay > 0 THEN clock_timestamp() + d.delay * interval '1 second' END,
       published_at = CASE WHEN d.delay > 0 THEN NULL ELSE clock_timestamp() END,
       publications = r.publications + CASE WHEN d.delay > 0 THEN 0 ELSE 1 END,
       due_at = clock_timestamp()
                + CASE WHEN d.delay > 0 THEN d.delay ELSE %(patience)s END * interval '1 second'
  FROM executions_workflowexecution e, (SELECT %(delay)s::float8 AS delay) d
 WHERE r.id = %(run)s
   AND (r.execution_id = %(execution)s OR r.execution_id BETWEEN %(execution)s AND %(execution)s)
   AND e.id = %(execution)s
   AND r.state IN ('LEASED', 'PENDING', 'RUNNING') AND r.lease_token = %(token)s
RETURNING r.execution_id, e.version_id, r.priority, r.segment, r.queue, r.step_path
