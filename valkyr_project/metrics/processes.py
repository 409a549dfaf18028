"""Celery's processes serve their metrics: a worker for its whole pool, and beat."""

from typing import Any

from celery.signals import beat_init, worker_init, worker_process_init

from executions.observability import metric_values
from valkyr_project.metrics import serving


@worker_init.connect(weak=False)
@beat_init.connect(weak=False)
def serve(**_: Any) -> None:
    """Begin before the pool forks, so that each child closes what it inherits."""
    serving.begin()


@worker_process_init.connect(weak=False)
def count_apart(**_: Any) -> None:
    """A child of a pool counts in files of its own."""
    metric_values.count_as_child()
