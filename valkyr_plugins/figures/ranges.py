"""The time ranges of dashboards, and their slots. This module is pure."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.utils.translation import gettext_noop

HOUR = timedelta(hours=1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Range:
    """A range of equal slots that begins at a multiple of `grain`; its last slot is incomplete."""

    name: str
    title: str
    length: timedelta
    slot: timedelta
    grain: timedelta = HOUR

    @property
    def slots(self) -> int:
        """Return the number of slots."""
        return self.length // self.slot

    @property
    def by_hours(self) -> bool:
        """Return whether the range consists of whole hours, whose counts are stored."""
        return self.grain == HOUR

    def window(self, now: datetime) -> "Window":
        """Return the range at `now`, and the period just before it."""
        return Window(self, floor(now, self.grain) + self.grain - self.length, now)


@dataclass(frozen=True, slots=True)
class Window:
    """A range at the time `now`; the period before it has the same length."""

    range: Range
    start: datetime
    now: datetime

    @property
    def end(self) -> datetime:
        """Return the end of the current slot."""
        return self.start + self.range.length

    @property
    def before(self) -> datetime:
        """Return the start of the period before the range."""
        return self.start - self.range.length

    @property
    def elapsed(self) -> timedelta:
        """Return the time from the start of the range until now."""
        return self.now - self.start

    def starts(self) -> list[datetime]:
        """Return the start of each slot."""
        return [self.start + number * self.range.slot for number in range(self.range.slots)]

    def slot_of(self, at: datetime) -> int:
        """Return the number of the slot that contains a time; negative before the window."""
        return (at - self.start) // self.range.slot

    def part(self, since: str | None, until: str | None) -> "SelectedPeriod | None":
        """Return the period between two ISO 8601 times, rounded to whole slots, at least one.

        Return None if a string is not a time, or if the times delimit no part of the range.
        """
        begin, end = _time(since), _time(until)
        if begin is None or end is None or begin >= end:
            return None
        if end <= self.start or begin >= self.end:
            return None
        first = max(0, round((begin - self.start) / self.range.slot))
        last = min(self.range.slots, round((end - self.start) / self.range.slot)) - 1
        first = min(first, self.range.slots - 1)
        return SelectedPeriod(self, first, max(first, last))


@dataclass(frozen=True, slots=True)
class SelectedPeriod:
    """A part of a window: its consecutive slots from `first` to `last`."""

    window: Window
    first: int
    last: int

    @property
    def start(self) -> datetime:
        """Return the start of the first slot."""
        return self.window.start + self.first * self.window.range.slot

    @property
    def end(self) -> datetime:
        """Return the end of the last slot."""
        return self.window.start + (self.last + 1) * self.window.range.slot

    @property
    def elapsed(self) -> timedelta:
        """Return the time from the period's start until its end or, if earlier, now."""
        return min(self.end, self.window.now) - self.start


def _time(text: str | None) -> datetime | None:
    try:
        at = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def floor(at: datetime, grain: timedelta) -> datetime:
    """Return the last multiple of `grain` since 1970 (UTC) that is not after `at`."""
    return EPOCH + (at - EPOCH) // grain * grain


RANGES: dict[str, Range] = {
    one.name: one
    for one in (
        Range("1h", gettext_noop("1 hour"), HOUR, timedelta(minutes=5), timedelta(minutes=5)),
        Range("24h", gettext_noop("24 hours"), timedelta(days=1), HOUR),
        Range("7d", gettext_noop("7 days"), timedelta(days=7), timedelta(hours=6)),
        Range("14d", gettext_noop("14 days"), timedelta(days=14), timedelta(hours=12)),
    )
}
DEFAULT = "24h"


def range_named(name: str | None) -> Range:
    """Return the range with this name, or the default range if the name is unknown."""
    return RANGES.get(name or DEFAULT, RANGES[DEFAULT])
