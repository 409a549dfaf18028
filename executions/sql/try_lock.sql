-- Whether this transaction may be the one that serves a request: nobody waits for somebody else's.
SELECT pg_try_advisory_xact_lock(%(number)s::bigint)
