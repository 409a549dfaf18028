"""Runs that external programs execute over HTTP: leased, kept alive, completed or failed.

A remote runner holds a run as a worker does, with a lease and its token. The engine prepares runs
for it and records its reports (`runners.public.leased_runs`); leases, tokens and responses are
here.
"""
