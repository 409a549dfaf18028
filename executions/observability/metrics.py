"""Metrics of this app: started and ended executions, omitted labels, and requests."""

from functools import partial
from typing import Any

from executions.database import transaction
from executions.events import execution_ended
from executions.observability.metric_values import Counter, Histogram

STARTED = Counter(
    "valkyr_executions_started",
    "Executions that were started, by trigger type.",
    ["trigger"],
)
ENDED = Counter(
    "valkyr_executions_ended",
    "Executions that reached a final state; a resumed execution counts again when it ends again.",
    ["state"],
)
LABELS_LEFT_OUT = Counter(
    "valkyr_labels_left_out",
    "Labels that were left out of starts, because their value could not be rendered.",
)
REQUESTS = Histogram(
    "valkyr_http_request_duration_seconds",
    "Time from a request to its response (for a stream, to its beginning), by API operation.",
    ["operation", "status"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10),
)


def started(trigger: str, number: int) -> None:
    """Count inserted executions when the transaction commits."""
    transaction.on_commit(partial(STARTED.labels(trigger).inc, number), robust=True)


def left_out(number: int) -> None:
    """Count labels that were left out of new executions, when the transaction commits."""
    if number:
        transaction.on_commit(partial(LABELS_LEFT_OUT.inc, number), robust=True)


def ended(sender: Any = None, *, state: str, **_: Any) -> None:
    """Count an ended execution when its end is committed."""
    ENDED.labels(state).inc()


def connect() -> None:
    """Start counting executions that end, using the signal `execution_ended`."""
    execution_ended.connect(ended, dispatch_uid="executions.observability.metrics")
