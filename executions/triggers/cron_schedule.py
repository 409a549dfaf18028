"""CRON schedules: a trigger's rule, its due times, and the missed times to catch up on."""

import heapq
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import islice
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from croniter import croniter
from croniter.croniter import CroniterError

# The fire times of a schedule in its time zone, also when clocks change. No I/O.
#
# A schedule for certain hours fires once for each of them. If a local time occurs twice, it fires
# at the first occurrence; if a local time is skipped, it fires when the clocks continue. A schedule
# for every hour follows elapsed time: it fires at both occurrences, and not at a skipped time.


SECOND = timedelta(seconds=1)
# The time before and after a fire time in which a change of the clocks is detected.
AROUND = timedelta(days=1)
# How far `upcoming` looks ahead, and the maximum duration of a pause.
AHEAD = timedelta(days=400)


@dataclass(frozen=True, slots=True)
class Schedule:
    """Five cron fields in a time zone, between two instants; None means no limit."""

    text: str
    zone: ZoneInfo
    start: datetime | None = None
    end: datetime | None = None

    def times(self, after: datetime, until: datetime) -> Iterator[datetime]:
        """Yield the times with after < time <= until, in order, in UTC.

        The schedule's `start` and `end` are inclusive.
        """
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
        """Return the last time with after < time <= until, in UTC; None if there is none."""
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
        """Yield local times of the schedule, from the first time that may be later than `after`."""
        back = self._goes_back(after, after + AROUND)
        return _locals(croniter(self.text, self._wall(after) - back - SECOND), forwards=True)

    def _before(self, until: datetime, back: timedelta) -> Iterator[datetime]:
        """Yield local times backwards, from the last that may be at or before `until`."""
        return _locals(croniter(self.text, self._wall(until) + back + SECOND), forwards=False)

    def _instants(self, local: datetime, every_hour: bool) -> tuple[datetime, ...]:
        """Return the instants at which the zone's clocks show `local`; two only with `every_hour`.

        If the clocks skip `local`, the only instant is the moment of the change; with `every_hour`,
        there is none.
        """
        first = local.replace(tzinfo=self.zone).astimezone(UTC)
        second = local.replace(tzinfo=self.zone, fold=1).astimezone(UTC)
        if self._wall(first) != local:
            return () if every_hour else (self._gone_on(second, first),)
        return (first, second) if every_hour and second != first else (first,)

    def _gone_on(self, before: datetime, after: datetime) -> datetime:
        """Return the second in (before, after] at which the clocks were set forward."""
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
        return  # no such day in the years that croniter and the calendar support


def _passed(waiting: list[datetime], limit: datetime | None) -> Iterator[datetime]:
    """Remove the times before `limit` from the heap, and yield them; none if `limit` is None."""
    while limit is not None and waiting and waiting[0] < limit:
        yield heapq.heappop(waiting)


SKIP, QUEUE, CANCEL_PREVIOUS = "skip", "queue", "cancelPrevious"


@dataclass(frozen=True, slots=True)
class CronRule:
    """The settings of a CRON trigger, including changes made in beat's admin.

    `overlap` is skip, queue, cancelPrevious or allow.
    """

    schedule: Schedule
    overlap: str
    catch_up: str
    catch_up_limit: int
    jitter_seconds: int


def rule(settings: Mapping[str, Any]) -> CronRule:
    """Return the rule that a trigger's resolved settings describe."""
    return CronRule(
        schedule=Schedule(
            settings["schedule"],
            ZoneInfo(settings["timezone"]),
            _instant(settings["startAt"]),
            _instant(settings["endAt"]),
        ),
        overlap=settings["overlap"],
        catch_up=settings["catchUp"],
        catch_up_limit=settings["catchUpLimit"],
        jitter_seconds=settings["jitterSeconds"],
    )


def upcoming(schedule: Schedule, after: datetime, number: int) -> list[datetime]:
    """Return the next times of a schedule, at most `number` and within 400 days, in UTC."""
    return list(islice(schedule.times(after, after + AHEAD), number))


def delay(trigger_id: UUID, fire_at: datetime, seconds: int) -> timedelta:
    """Return a start's jitter, from 0 to `seconds`; the trigger and the time determine it."""
    drawn = int.from_bytes(sha256(f"{trigger_id} {fire_at.isoformat()}".encode()).digest()[:8])
    return timedelta(seconds=round(seconds * drawn / 2**64))


def _instant(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


# Decide what happens to the times that passed since the last check. No I/O.
#
# A time up to a minute late is on time. The trigger's `catchUp` determines which times fire: only
# those on time; only the latest of all; or also all missed times, the oldest first, up to the
# limit.


GRACE = timedelta(seconds=60)
# Maximum number of an outage's missed times that get a row each, and of further times that are
# counted.
ROWS, COUNTED = 1_000, 10_000
MICROSECOND = timedelta(microseconds=1)

MISSED = "Missed: no process checked the schedule at that time."
CAUGHT_UP = "Missed at its time, and started later."


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision whether a time fires, and the reason."""

    fire_at: datetime
    fires: bool
    reason: str = ""


def decide(rule: CronRule, after: datetime, now: datetime, until: datetime) -> list[Decision]:
    """Decide, in order, whether each time with after < time <= until fires.

    `until` is `now` or a little later. Returns at most `catch_up_limit` + 1,000 decisions; if more
    times were missed, the last decision for a missed time states how many more.
    """
    schedule = rule.schedule
    late = max(after, now - GRACE - MICROSECOND)
    on_time = list(schedule.times(late, until))
    caught: list[datetime] = []
    # The times with missed_from < time <= missed_to stay missed.
    missed_from, missed_to = after, late
    if rule.catch_up == "all":
        caught = list(islice(schedule.times(after, late), rule.catch_up_limit))
        missed_from = caught[-1] if caught else after
    elif rule.catch_up == "latest":
        newest = schedule.newest(after, until)
        if newest is not None:
            on_time = [time for time in on_time if time == newest]
            caught = [] if on_time else [newest]
            missed_to = newest - MICROSECOND
    missed = schedule.times(missed_from, missed_to)
    return sorted(
        [
            *_missed(missed, ROWS - len(on_time)),
            *(Decision(time, True, CAUGHT_UP) for time in caught),
            *(Decision(time, True) for time in on_time),
        ],
        key=lambda decision: decision.fire_at,
    )


def following(schedule: Schedule, after: datetime) -> datetime | None:
    """Return the first time later than `after`; None if there is none in the next 50 years."""
    never = after.replace(year=after.year + 50, day=1)
    return next(schedule.times(after, never), None)


def _missed(times: Iterator[datetime], rows: int) -> list[Decision]:
    """Return decisions for missed times, at most `rows`; the last states how many followed."""
    listed = [Decision(time, False, MISSED) for time in islice(times, rows)]
    more, last = _count(islice(times, COUNTED))
    if last is not None:
        many = f"{'at least ' if more == COUNTED else ''}{more:,}"
        reason = (
            f"Missed, together with {many} later times that have no rows (up to "
            f"{last:%Y-%m-%d %H:%M} UTC)."
        )
        listed[-1] = Decision(listed[-1].fire_at, False, reason)
    return listed


def _count(times: Iterable[datetime]) -> tuple[int, datetime | None]:
    count, last = 0, None
    for time in times:
        count, last = count + 1, time
    return count, last
