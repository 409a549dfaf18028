--! one partition: execution
-- Complete or fail a leased run, and insert no other run: `record` without its insert, whose
-- preparation costs as much as the rest. `record` names the races that are prevented.
-- Always returns one row, as `record` does: (recorded, execution's state, 0, other live runs or
-- NULL).
--+ fenced
    RETURNING e.state AS execution_state
)
SELECT (SELECT count(*) FROM fenced),
       (SELECT execution_state FROM fenced),
       0,
--+ other_live_runs
