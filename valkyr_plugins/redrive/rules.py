"""The rate of a redrive, and its automatic stop. This module is pure."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import floor

GOOD, BAD = "S", "F"  # marks of ended entries in `recent`: succeeded, failed again
# Minimum number of ended entries for a failure rate.
SAMPLE = 10
# Maximum seconds of missed sending that are caught up after a pause.
CATCH_UP = 5.0


@dataclass(frozen=True, slots=True)
class Pace:
    """The number of entries sent since a time; `since` is None before the pacing begins."""

    since: datetime | None
    sent: int


def due(pace: Pace, rate: float, now: datetime) -> tuple[int, Pace]:
    """Return how many entries may be sent now at `rate` per second, and the pace to store.

    Entries are counted from the start of the pace, so that fractions and delays add no error. After
    a gap, the limit is the number of entries due in `CATCH_UP` seconds, but at least one entry.
    """
    if pace.since is None:
        return 1, Pace(now, 0)
    owed = (now - pace.since).total_seconds() * rate - pace.sent
    most = max(1.0, CATCH_UP * rate)
    if owed > most:
        lost = timedelta(seconds=(owed - most) / rate)
        return floor(most), replace(pace, since=pace.since + lost)
    return max(0, floor(owed)), pace


@dataclass(frozen=True, slots=True)
class Standing:
    """A redrive's progress and its own limits."""

    sent: int  # total number of sent entries
    running: int
    canary: int
    max_in_flight: int | None
    stop_above: float | None
    stop_window: int
    recent: str


def room(standing: Standing) -> int | None:
    """Return how many more entries may be sent now; None if there is no limit.

    Canaries are sent first, and all of them must end before the others are sent. A redrive with
    `stop_above` has at most `stop_window` entries in flight.
    """
    limits = [limit for limit in (standing.max_in_flight, _judged(standing)) if limit is not None]
    free = max(0, min(limits) - standing.running) if limits else None
    if standing.sent < standing.canary:
        left = standing.canary - standing.sent
        return left if free is None else min(left, free)
    if waits_for_canaries(standing):
        return 0
    return free


def waits_for_canaries(standing: Standing) -> bool:
    """Return whether all canaries were sent and some have not ended."""
    return bool(standing.canary) and standing.sent == standing.canary and standing.running > 0


def remembered(recent: str, ended: str, standing: Standing) -> str:
    """Return `recent` with the results `ended` appended, cut to the latest results needed."""
    return (recent + ended)[-max(standing.stop_window, standing.canary, 1) :]


def reason_to_stop(standing: Standing) -> str | None:
    """Return a sentence with the reason why a redrive must stop; None if it may continue."""
    if _canaries_done(standing):
        found = _too_many(standing.recent, standing.stop_above or 0.0)
        if found:
            return f"Of the {len(standing.recent)} entries sent first, {found}."
    if standing.stop_above is None:
        return None
    last = standing.recent[-standing.stop_window :]
    if len(last) < min(SAMPLE, standing.stop_window):
        return None
    found = _too_many(last, standing.stop_above)
    return f"Of the last {len(last)} entries that ended, {found}." if found else None


def _canaries_done(standing: Standing) -> bool:
    at_the_gate = bool(standing.canary) and standing.sent == standing.canary
    return at_the_gate and standing.running == 0 and bool(standing.recent)


def _too_many(recent: str, above: float) -> str | None:
    bad = recent.count(BAD)
    share = 100 * bad / len(recent)
    if share <= above:
        return None
    return f"{bad} failed again ({share:.3g} %, more than {above:.3g} %)"


def _judged(standing: Standing) -> int | None:
    return None if standing.stop_above is None else standing.stop_window
