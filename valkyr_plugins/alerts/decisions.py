"""Pure decisions: whether a failure rate is unusual, and when to send a message again.

A rate is unusual if the last sixty minutes had far more failures than usual.

Counts are stored per clock hour. The last sixty minutes are estimated from the current hour and a
share of the previous hour (the sliding-window counter of rate limiters). The usual number is the
median for the same sixty minutes of the previous seven days, so that one bad day hardly changes it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median

HOUR = timedelta(hours=1)
DAYS = 7


@dataclass(frozen=True, slots=True)
class FailureRate:
    """The number of failures in the last sixty minutes, and the usual number."""

    recent: float
    usual: float


def rate(counts: Mapping[datetime, int], now: datetime) -> FailureRate:
    """Return the rate at `now` (UTC), from counts that are keyed by the start of the hour.

    A missing hour counts as 0.
    """
    before = [_within_an_hour(counts, now - timedelta(days=day)) for day in range(1, DAYS + 1)]
    return FailureRate(_within_an_hour(counts, now), median(before))


def is_high(found: FailureRate, *, factor: float, least: float) -> bool:
    """Return whether the rate is at least `least`, and at least `factor` times the usual rate."""
    return found.recent >= least and found.recent >= factor * found.usual


def hours(now: datetime) -> Iterator[datetime]:
    """Yield the start of each hour whose count `rate` needs at `now`."""
    for day in range(DAYS + 1):
        present = _hour_of(now - timedelta(days=day))
        yield from (present - HOUR, present)


def _within_an_hour(counts: Mapping[datetime, int], now: datetime) -> float:
    present = _hour_of(now)
    left = 1 - (now - present) / HOUR
    return counts.get(present, 0) + left * counts.get(present - HOUR, 0)


def _hour_of(at: datetime) -> datetime:
    return at.replace(minute=0, second=0, microsecond=0)


# Decide when a failed message is sent again. Pure.


FACTOR = 3
LONGEST = timedelta(hours=1)


def next_attempt(
    attempts: int,
    *,
    queued_at: datetime,
    now: datetime,
    first: float,
    give_up: float,
    asked: float | None = None,
) -> datetime | None:
    """Return the time of the next attempt after `attempts` failed attempts.

    Return None if that time is more than `give_up` seconds after the message was queued. The wait
    begins with `first` seconds and triples, up to an hour. It is at least `asked` seconds (the
    receiver's Retry-After), but never longer than an hour.
    """
    # A higher power would not change the result, because the wait is limited.
    wait = timedelta(seconds=min(first * FACTOR ** min(attempts - 1, 20), LONGEST.total_seconds()))
    if asked is not None:
        wait = min(max(wait, timedelta(seconds=asked)), LONGEST)
    at = now + wait
    return at if at <= queued_at + timedelta(seconds=give_up) else None


# Convert third-party text to one line of a message. Pure.


def clipped(text: str, length: int) -> str:
    """Return text as one line of at most `length` characters, without control characters."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= length else f"{line[: length - 1]}…"
