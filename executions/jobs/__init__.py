"""Jobs: a worker evaluates a tenant's templates for a request, and stores the result.

A request creates a job and waits a few seconds for it (`requests`); if the job has not finished by
then, the request returns the address of the result. A task on the queue `default` runs the job
(`worker`). If its message is lost, `worker.sweep` sends another one.
"""
