-- New executions of one request: what they share, and of each its id, payload, trace, concurrency
-- key and whether it runs at once. Their times are those of this statement, which comes after every
-- wait for a lock; it answers with it.
--+ new_executions
)
SELECT now FROM moment
