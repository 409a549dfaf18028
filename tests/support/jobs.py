"""Jobs in tests that start no workers: run by the function that the workers' task calls."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

from django.db import connection

from executions.jobs import worker as running
from executions.models import Job
from executions.states import JobState


def run_jobs() -> int:
    """Run the queued jobs, as a worker does; return how many."""
    queued = Job.objects.filter(state=JobState.QUEUED).order_by("created_at", "id")
    return sum(running.run(pk) for pk in queued.values_list("pk", flat=True))


@contextmanager
def working() -> Iterator[None]:
    """Run jobs in a separate thread during the block. The test must commit."""
    over = Event()

    def work() -> None:
        try:
            while not over.wait(0.02):
                run_jobs()
        finally:
            connection.close()

    worker = Thread(target=work)
    worker.start()
    try:
        yield
    finally:
        over.set()
        worker.join()
