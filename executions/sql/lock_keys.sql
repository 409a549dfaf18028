-- Hold concurrency keys until the transaction ends, in the order of the numbers given.
SELECT pg_advisory_xact_lock(number) FROM unnest(%(numbers)s::bigint[]) AS number
