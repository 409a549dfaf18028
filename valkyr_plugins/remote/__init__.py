"""Runs that are done over HTTP: leased, kept alive, completed or failed by programs of others.

A remote runner holds a run as a worker does, by a lease and its token. The engine prepares runs for
it and records its reports (`runners.public.leased_runs`); leases, tokens and answers are here.
"""
