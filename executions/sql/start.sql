-- Insert the new executions of one request: their shared values and, for each execution, its ID,
-- payload, variables, trace, concurrency key, labels, and whether it runs at once. Their times are
-- the time of this statement, which runs after all waits for locks. Return this time.
--+ new_executions
)
SELECT now FROM moment
