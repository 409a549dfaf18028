"""CRON triggers: five fields that both schedulers read alike, that fire at all, in a known zone."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from executions.graph.problem import Problem, did_you_mean, problem
from executions.templating.errors import Pointer

# No L, W, # or ?: croniter reads them and the scheduler that fires the tick does not.
_FIELD = re.compile(r"[0-9A-Za-z*,/-]+")
_NAMES = re.compile(r"[A-Za-z]+")
_MONTHS = frozenset(
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
)
_WEEKDAYS = frozenset(["sun", "mon", "tue", "wed", "thu", "fri", "sat"])
_ANY_TIME = datetime(2024, 1, 1, tzinfo=UTC)


def trigger_problems(document: Mapping[str, Any]) -> Iterator[Problem]:
    """Schedules that cannot be read or never fire, and unknown time zones."""
    triggers = document.get("triggers")
    for index, trigger in enumerate(triggers if isinstance(triggers, list) else []):
        if isinstance(trigger, dict) and trigger.get("type") == "CRON":
            pointer: Pointer = ("triggers", index)
            if isinstance(trigger.get("schedule"), str):
                yield from _schedule(trigger["schedule"], (*pointer, "schedule"))
            if isinstance(trigger.get("timezone"), str):
                yield from _timezone(trigger["timezone"], (*pointer, "timezone"))


def _schedule(schedule: str, pointer: Pointer) -> Iterator[Problem]:
    from croniter import croniter
    from croniter.croniter import CroniterBadDateError, CroniterError

    fields = schedule.split()
    if len(fields) != 5:
        message = (
            f'"{schedule}" has {len(fields)} fields; expected five: '
            "minute, hour, day of month, month, day of week"
        )
        yield problem(pointer, "bad_schedule", message)
    elif not all(map(_known_field, fields, (_NONE, _NONE, _NONE, _MONTHS, _WEEKDAYS))):
        message = f'"{schedule}" may hold numbers, names of months and days, and * , - / only'
        yield problem(pointer, "bad_schedule", message)
    else:
        try:
            croniter(schedule, _ANY_TIME).get_next()
        except CroniterBadDateError:
            message = f'"{schedule}" names a date that never comes'
            yield problem(pointer, "bad_schedule", message)
        except (CroniterError, ValueError) as error:
            yield problem(pointer, "bad_schedule", f'"{schedule}" cannot be read: {error}')


_NONE: frozenset[str] = frozenset()


def _known_field(field: str, names: frozenset[str]) -> bool:
    if _FIELD.fullmatch(field) is None:
        return False
    return all(name.lower() in names for name in _NAMES.findall(field))


def _timezone(name: str, pointer: Pointer) -> Iterator[Problem]:
    known = _timezones()
    if name not in known:
        hint = did_you_mean(name, known, at_most=len(known)) or "; use a name such as Europe/Berlin"
        yield problem(pointer, "unknown_timezone", f'there is no time zone "{name}"{hint}')


@lru_cache(maxsize=1)
def _timezones() -> frozenset[str]:
    from zoneinfo import available_timezones

    return frozenset(available_timezones())
