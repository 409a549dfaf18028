"""When a schedule is due: pure, by the clocks of its own time zone on every day of the year.

A schedule that names hours is due once at each: at a time that clocks show twice, the first time;
at one that they skip, when they go on. One that is due every hour goes by the time that passes: it
is due both times, and not at a time that never was.
"""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from croniter import croniter
from croniter.croniter import CroniterError

SECOND = timedelta(seconds=1)
# Clocks are looked at this far around a time to see whether they go back.
AROUND = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Schedule:
    """Five cron fields in a time zone, between two instants (None: without end)."""

    text: str
    zone: ZoneInfo
    start: datetime | None = None
    end: datetime | None = None

    def times(self, after: datetime, until: datetime) -> Iterator[datetime]:
        """The times with after < time <= until, in order, in UTC; `start` and `end` count."""
        after, until = self._within(after, until)
        every_hour = self._every_hour()
        waiting: list[datetime] = []
        last = after
        for local in self._from(after):
            instants = self._instants(local, every_hour)
            for time in _passed(waiting, min(instants, default=None)):
                if last < time <= until:
                    yield (last := time)
            if instants and min(instants) > until:
                break
            for time in instants:
                heapq.heappush(waiting, time)
        for time in _passed(waiting, until + SECOND):
            if last < time <= until:
                yield (last := time)

    def newest(self, after: datetime, until: datetime) -> datetime | None:
        """The last time with after < time <= until, in UTC; None when there is none."""
        after, until = self._within(after, until)
        if until <= after:
            return None
        every_hour = self._every_hour()
        back = self._goes_back(until - AROUND, until + AROUND)
        found: datetime | None = None
        for local in self._before(until, back):
            if found is not None and local < self._wall(found) - back:
                break
            due = [time for time in self._instants(local, every_hour) if time <= until]
            found = max([*due, *([found] if found else [])], default=None)
            if found is None and local < self._wall(after) - back - AROUND:
                break
        return found if found is not None and found > after else None

    def _within(self, after: datetime, until: datetime) -> tuple[datetime, datetime]:
        if self.start is not None:
            after = max(after, self.start - timedelta(microseconds=1))
        if self.end is not None:
            until = min(until, self.end)
        return after.astimezone(UTC), until.astimezone(UTC)

    def _from(self, after: datetime) -> Iterator[datetime]:
        """Local times of the schedule, from the first that may be an instant past `after`."""
        back = self._goes_back(after, after + AROUND)
        return _locals(croniter(self.text, self._wall(after) - back - SECOND), forwards=True)

    def _before(self, until: datetime, back: timedelta) -> Iterator[datetime]:
        """Local times of the schedule, backwards, from the last that may be one up to `until`."""
        return _locals(croniter(self.text, self._wall(until) + back + SECOND), forwards=False)

    def _instants(self, local: datetime, every_hour: bool) -> tuple[datetime, ...]:
        """When clocks of the zone show `local`, by the rule above: none, one or two instants."""
        first = local.replace(tzinfo=self.zone).astimezone(UTC)
        second = local.replace(tzinfo=self.zone, fold=1).astimezone(UTC)
        if self._wall(first) != local:
            return () if every_hour else (self._gone_on(second, first),)
        return (first, second) if every_hour and second != first else (first,)

    def _gone_on(self, before: datetime, after: datetime) -> datetime:
        """The second in (before, after] at which the clocks were put forward."""
        offset = self._offset(before)
        low, high = int(before.timestamp()), int(after.timestamp())
        while high - low > 1:
            middle = (low + high) // 2
            if self._offset(datetime.fromtimestamp(middle, UTC)) == offset:
                low = middle
            else:
                high = middle
        return datetime.fromtimestamp(high, UTC)

    def _goes_back(self, early: datetime, late: datetime) -> timedelta:
        return max(timedelta(0), self._offset(early) - self._offset(late))

    def _offset(self, time: datetime) -> timedelta:
        return time.astimezone(self.zone).utcoffset() or timedelta(0)

    def _wall(self, time: datetime) -> datetime:
        return time.astimezone(self.zone).replace(tzinfo=None)

    def _every_hour(self) -> bool:
        hours = croniter.expand(self.text)[0][1]
        return hours == ["*"] or len(set(hours)) == 24


def _locals(times: croniter, *, forwards: bool) -> Iterator[datetime]:
    try:
        while True:
            yield times.get_next(datetime) if forwards else times.get_prev(datetime)
    except (CroniterError, ValueError, OverflowError):
        return  # no such day within the years that croniter and the calendar know


def _passed(waiting: list[datetime], limit: datetime | None) -> Iterator[datetime]:
    """Take what is due before `limit` from the heap."""
    while limit is not None and waiting and waiting[0] < limit:
        yield heapq.heappop(waiting)
