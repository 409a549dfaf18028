--! one partition: execution
-- Complete (or fail) a held run after which nothing is added: `record` without its insert, which
-- costs as much to get ready as the rest. The races that are closed here are named there.
-- Always one row, as of `record`: (recorded, execution's state, 0, other live runs or NULL).
--+ fenced
    RETURNING e.state AS execution_state
)
SELECT (SELECT count(*) FROM fenced),
       (SELECT execution_state FROM fenced),
       0,
--+ others
