"""The time limit, the pace and the result of pruning."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime

from executions.database import connection, transaction

LONGEST_REST = 0.5


@dataclass(slots=True)
class PruningPace:
    """The pace of pruning, and when it ends.

    Pruning ends at `until` on the clock of `time.monotonic()` (None: when all rows are deleted), or
    when `stopped` returns True. After each transaction, pruning waits `rest` times the
    transaction's duration, but at most half a second, to leave capacity for other work. `batch` is
    the usual number of rows per transaction.
    """

    until: float | None = None
    rest: float = 1.0
    batch: int = 500
    stopped: Callable[[], bool] = field(default=lambda: False)

    @classmethod
    def for_seconds(cls, seconds: float, *, rest: float = 1.0, batch: int = 500) -> "PruningPace":
        """Return a pace at which pruning ends after `seconds`."""
        return cls(time.monotonic() + seconds, rest, batch)

    @property
    def over(self) -> bool:
        """Return whether pruning must stop after the current batch."""
        return self.stopped() or (self.until is not None and time.monotonic() >= self.until)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run the block as a short transaction, and wait afterwards.

        The commit does not wait for the disk: if a crash restores rows, they are deleted again.
        """
        began = time.monotonic()
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL synchronous_commit = off")
            yield
        pause = min(LONGEST_REST, self.rest * (time.monotonic() - began))
        if pause > 0 and not self.over:
            time.sleep(pause)


@dataclass(slots=True)
class PruningTally:
    """The rows of one kind that were or would be deleted, and the time span that they cover.

    `parts` counts dependent rows per kind, such as the runs of executions. `kept` counts the rows
    (or families of executions) that are not deleted, per reason. `more` is true if the pace ended
    pruning before all rows were deleted.
    """

    kind: str
    rows: int = 0
    first: datetime | None = None
    last: datetime | None = None
    parts: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)
    more: bool = False

    def span(self, first: datetime | None, last: datetime | None) -> None:
        """Extend the time span to include these times; None changes nothing."""
        if first is not None:
            self.first = first if self.first is None else min(self.first, first)
        if last is not None:
            self.last = last if self.last is None else max(self.last, last)
