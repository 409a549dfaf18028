"""Jobs: a worker computes what a request needs from a tenant's templates.

A request creates a job and waits a few seconds for it (`requests`); if the job takes longer, the
request returns the address of the result. A task on the queue `default` runs it (`worker`). The row
is the source of truth: `worker.sweep` finds lost messages.
"""
