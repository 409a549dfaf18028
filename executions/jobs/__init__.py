"""Jobs: what a request needs of a tenant's templates is computed by a worker.

A request asks for a job (`asking`), waits a few seconds for it (`waiting`), and else tells its
caller where to look later. A task on the queue `default` runs it (`running`). The row is the truth:
what was lost on the way is found by `sweeping`.
"""
