"""What becomes of the times that passed since the last look: pure.

A time up to a minute late is on time. The trigger's `catchUp` decides: none fires but those on
time; the latest of all times does, and no other; or all that were missed do as well, the oldest
first, up to the limit.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

from executions.triggers.cron_rule import CronRule
from executions.triggers.cron_times import Schedule

GRACE = timedelta(seconds=60)
# How many missed times of one outage get a row each, and how many more are counted.
ROWS, COUNTED = 1_000, 10_000
MICROSECOND = timedelta(microseconds=1)

MISSED = "Missed: nothing looked at the schedule at that time."
CAUGHT_UP = "Missed at its time, and caught up."


@dataclass(frozen=True, slots=True)
class Decision:
    """One time: whether it fires, and what there is to say."""

    fire_at: datetime
    fires: bool
    reason: str = ""


def decide(rule: CronRule, after: datetime, now: datetime, until: datetime) -> list[Decision]:
    """What becomes of each time with after < time <= until (now, or a little later), in order.

    At most `catch_up_limit` + 1,000 decisions: of more missed times, the last says how many.
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
    """The first time later than `after`; None when the schedule is over."""
    never = after.replace(year=after.year + 50, day=1)
    return next(schedule.times(after, never), None)


def _missed(times: Iterator[datetime], rows: int) -> list[Decision]:
    """Missed times, at most `rows`; if there are more, the last one sums them up."""
    listed = [Decision(time, False, MISSED) for time in islice(times, rows)]
    more, last = _count(islice(times, COUNTED))
    if last is not None:
        many = f"{'at least ' if more == COUNTED else ''}{more:,}"
        reason = f"Missed, and {many} times after it without rows (to {last:%Y-%m-%d %H:%M} UTC)."
        listed[-1] = Decision(listed[-1].fire_at, False, reason)
    return listed


def _count(times: Iterable[datetime]) -> tuple[int, datetime | None]:
    count, last = 0, None
    for time in times:
        count, last = count + 1, time
    return count, last
