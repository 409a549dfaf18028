--! one partition: execution
-- Return the results of finished steps that the templates of a later step read. `IS TRUE` prevents
-- the planner from combining two indexes: it reads all runs of the execution by one.
SELECT d.step_path, d.state, d.outcome, d.outputs::json, d.error, d.error_type
  FROM runners_run d
 WHERE d.execution_id = %(execution)s AND NOT d.superseded
   AND d.step_path = ANY(%(reads)s)
   AND (d.state IN ('SUCCESS', 'SKIPPED')
        OR (d.state = 'FAILED' AND d.outcome = 'error')) IS TRUE
