"""Remote runners: external programs that lease runs over HTTP, renew the leases and report results.

The engine prepares and records the runs (`runners.public.leased_runs`). This package issues leases
with tokens, like those of workers, and answers the requests.
"""
