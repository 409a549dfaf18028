"""The cards on top: one figure each, and the list behind it."""

from collections.abc import Iterable
from datetime import datetime

from dlq.admin.dashboard.blocks import Card
from dlq.admin.dashboard.gathering import Facts
from executions.admin import links, marks
from executions.admin.paginator import BOUND

EXECUTIONS = "executions_workflowexecution"


def cards(kept: Facts, now: datetime, ended: Iterable[Card] = (), **only: str) -> list[Card]:
    """What runs, what waits, `ended`, and what is dead; `only` narrows the lists behind them."""
    return [
        Card(
            "Running", "clock_loader_40", kept["running"], "now",
            links.listing(EXECUTIONS, state="running", **only), _full(kept["running"]),
        ),
        Card(
            "Waiting for a place", "hourglass_empty", kept["waiting"],
            _oldest(kept["first_waiting"], now),
            links.listing(EXECUTIONS, state="waiting", **only), _full(kept["waiting"]),
        ),
        *ended,
        Card(
            "Open dead letters", "inbox", kept["open"], _oldest(kept["oldest"], now),
            links.listing("dlq_deadletterentry", resolution="open", **only), _full(kept["open"]),
        ),
    ]  # fmt: skip


def _full(number: int | None) -> bool:
    return number is not None and number >= BOUND


def _oldest(found: datetime | None, now: datetime) -> str:
    return f"oldest for {marks.span(now - found)}" if found else "none waits"
