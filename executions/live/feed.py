"""Each feed reads the states of one kind of object, for many viewers at once."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from executions.database import statements

# An execution as viewers see it: states and times, no payloads.


# An execution or a run as JSON; `id` names it.
Row = dict[str, Any]

_NAMES = (
    "id", "workflowId", "version", "state", "epoch", "startedAt", "finishedAt", "createdAt",
    "deadlineAt", "priority", "place", "errorMessage", "compensation", "ending",
)  # fmt: skip


def execution_row(values: Sequence[Any]) -> Row:
    """Return a row of `watch_executions.sql` or `watch_workflows.sql` as a JSON object."""
    return row_of(_NAMES, values)


def row_of(names: Sequence[str], values: Sequence[Any]) -> Row:
    """Return a row's values as a JSON object; `names` are the object's keys, in column order."""
    return {name: _plain(value) for name, value in zip(names, values, strict=True)}


def rfc3339(at: datetime) -> str:
    """Return a time of the database session, which uses UTC, in the format of RFC 3339."""
    return at.isoformat().replace("+00:00", "Z")


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return rfc3339(value) if isinstance(value, datetime) else str(value)


@dataclass(slots=True)
class News:
    """Rows of one watched object, in their current state.

    `more` says whether there are too many rows for one frame, and `ended` whether no row will
    change again.
    """

    executions: list[Row]
    runs: list[Row]
    more: bool = False
    ended: bool = False


class Feed(Protocol):
    """Reads the states of one kind of object in a thread; keeps no state between two calls."""

    def changes(self, ids: Sequence[UUID], since: int) -> dict[UUID, News]:
        """Return the news of each object, keyed by ID: the rows written since the cursor.

        Unchanged objects are left out.
        """
        ...

    def opening(self, pk: UUID, since: int | None) -> News | None:
        """Return a new viewer's first rows: everything, or the rows written since the cursor.

        The result includes whether the object has ended; it is None for a deleted object.
        """
        ...

    def told(self, news: News) -> dict[str, Any]:
        """Return the JSON object of a frame with this news."""
        ...


# The position of a reader: the ID of the oldest transaction that was open at the time of the read.
#
# Every version of a row contains the ID of the transaction that wrote it (`xmin`). Rows that a
# statement could not see were written by transactions that were still open, or that began later.
# The IDs of both are at or above the `xmin` of the statement's snapshot. So the next read of rows
# with these IDs misses nothing, however late a commit is and whatever times the rows contain; at
# worst, it reads a row twice. Savepoints have their own IDs, which are always above the ID of their
# transaction.


_TEXT = re.compile(r"[0-9]{1,19}")


@dataclass(frozen=True, slots=True)
class Mark:
    """A position from which to continue reading: a time of the database, and a cursor."""

    now: datetime
    cursor: int


def mark() -> Mark:
    """Return the current position. Take it before any read that depends on it."""
    row = statements.fetch_one("watch_cursor", {})
    assert row is not None
    return Mark(row[0], row[1])


def read_cursor(text: str | None, latest: int) -> int | None:
    """Return the parsed cursor of a viewer that reconnects; None if it is missing or invalid.

    A cursor later than `latest`, the current one, is invalid: it comes from another database.
    """
    if not text or not _TEXT.fullmatch(text) or int(text) > latest:
        return None
    return int(text)
