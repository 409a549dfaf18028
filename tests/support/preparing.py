"""Remote steps in tests that start no workers: the function that the workers' task calls prepares
them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

from django.db import connection

from executions.definition.limits import limits
from runners.models import Run
from runners.pipeline.leased_runs import prepare_runs
from runners.states import RunState


def prepare_remote_runs() -> int:
    """Render the inputs of all ready remote steps, as workers do; return how many."""
    found = Run.objects.filter(
        state=RunState.PENDING,
        secret_places__isnull=True,
        superseded=False,
        queue__in=sorted(limits().remote_queues),
    )
    rows = found.order_by("id").values_list("execution_id", "execution__version_id", "segment")
    return sum(prepare_runs(execution, version, [segment]) for execution, version, segment in rows)


@contextmanager
def preparing() -> Iterator[None]:
    """Prepare remote steps in a separate thread during the block. The test must commit."""
    over = Event()

    def work() -> None:
        try:
            while not over.wait(0.02):
                prepare_remote_runs()
        finally:
            connection.close()

    worker = Thread(target=work)
    worker.start()
    try:
        yield
    finally:
        over.set()
        worker.join()
