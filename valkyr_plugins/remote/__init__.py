"""Remote runners: external programs that lease runs over HTTP, renew the leases and report results.

The engine prepares and records the runs (`runners.public.leased_runs`). This package issues the
leases and their tokens, as for a worker, and answers the requests.
"""
