"""Runs that are worked over HTTP: leased, kept alive, completed or failed by programs of others.

A remote runner holds a run as a worker does, by a lease and its token; what it reports is recorded
by the same functions. Only handing over and taking back is different, and stands here.
"""
