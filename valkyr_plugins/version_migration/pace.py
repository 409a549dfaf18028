"""The rate of a migration. This module is pure."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import floor

# Maximum seconds of missed moves that are caught up after a gap.
CATCH_UP = 5.0


@dataclass(frozen=True, slots=True)
class MigrationPace:
    """The number of executions tried since a time; `since` is None before the first try."""

    since: datetime | None
    sent: int


def due(pace: MigrationPace, rate: float, now: datetime) -> tuple[int, MigrationPace]:
    """Return the number of executions to try now at `rate` per second, and the next pace.

    Tries are counted from `since`, so rounding adds no error; at most 5 s of tries are caught up.
    """
    if pace.since is None:
        return 1, MigrationPace(now, 0)
    owed = (now - pace.since).total_seconds() * rate - pace.sent
    most = max(1.0, CATCH_UP * rate)
    if owed > most:
        lost = timedelta(seconds=(owed - most) / rate)
        return floor(most), replace(pace, since=pace.since + lost)
    return max(0, floor(owed)), pace
