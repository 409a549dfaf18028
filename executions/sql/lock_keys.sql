-- Lock concurrency keys until the transaction ends, in the order of the given numbers.
SELECT pg_advisory_xact_lock(number) FROM unnest(%(numbers)s::bigint[]) AS number
