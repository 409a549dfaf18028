-- Take an advisory lock until the transaction ends, without waiting; return whether it was free.
SELECT pg_try_advisory_xact_lock(%(number)s::bigint)
