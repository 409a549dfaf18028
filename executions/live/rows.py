"""An execution as whoever watches sees it: states and times, no payloads."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

# An execution or a run as JSON; `id` names it.
Row = dict[str, Any]

_NAMES = (
    "id", "workflowId", "version", "state", "epoch", "startedAt", "finishedAt", "createdAt",
    "deadlineAt", "priority", "place", "errorMessage",
)  # fmt: skip


def execution_row(values: Sequence[Any]) -> Row:
    """An execution of `watch_executions.sql` or `watch_workflows.sql`, as JSON."""
    return row_of(_NAMES, values)


def row_of(names: Sequence[str], values: Sequence[Any]) -> Row:
    """Columns as JSON, by name."""
    return {name: _plain(value) for name, value in zip(names, values, strict=True)}


def rfc3339(at: datetime) -> str:
    """A time of the database, which speaks UTC to us."""
    return at.isoformat().replace("+00:00", "Z")


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return rfc3339(value) if isinstance(value, datetime) else str(value)
