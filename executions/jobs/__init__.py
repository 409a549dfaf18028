"""Jobs: what a request needs of a tenant's templates is computed by a worker.

A request asks for a job and waits a few seconds for it (`requests`), and else tells its caller
where to look later. A task on the queue `default` runs it (`worker`). The row is the truth: what
was lost on the way is found by `worker.sweep`.
"""
