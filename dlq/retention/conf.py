"""How long things are kept, from the environment: days, 0 for ever."""

import json
from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from dlq.retention.terms import ENDINGS
from executions import environment as env

EXAMPLE = '{"default/order-import": {"succeeded": 7}, "finance": {"failed": 0}, "tier:free": {}}'


def keep_days() -> dict[str, float]:
    """How long executions stay after their end, by how they ended; what they are made of too."""
    return {
        "succeeded": days("VALKYR_KEEP_SUCCEEDED_DAYS", 30),
        "failed": days("VALKYR_KEEP_FAILED_DAYS", 90),
        "cancelled": days("VALKYR_KEEP_CANCELLED_DAYS", 30),
    }


def log_days() -> float:
    """How long the logs of steps stay after their execution's end; 0: as long as the execution."""
    return days("VALKYR_KEEP_LOGS_DAYS", 0)


def test_days() -> float:
    """How long test versions stay, and what ran of them."""
    return days("VALKYR_TEST_VERSION_HOURS", 24, "hours") / 24


def tick_days() -> float:
    """How long times of schedules stay at which nothing was started."""
    return days("VALKYR_KEEP_TICKS_DAYS", 30)


def overrides() -> dict[str, dict[str, float]]:
    """Other numbers of days for some: by workspace, `workspace/workflow` or `tier:name`.

    Raises ImproperlyConfigured where it is no such object.
    """
    raw = env.text("VALKYR_KEEP_OVERRIDES")
    if not raw:
        return {}
    try:
        found = json.loads(raw)
    except ValueError as error:
        raise _wrong(f"it is no JSON ({error})") from None
    if not isinstance(found, dict):
        raise _wrong(f"it is {raw[:60]}")
    return {str(place): _checked(str(place), days) for place, days in found.items()}


def days(name: str, default: float, unit: str = "days") -> float:
    """A number of days from the environment. Raises ImproperlyConfigured where it is below 0."""
    number = env.number(name, default)
    if number < 0:
        raise ImproperlyConfigured(f"{name} is {number:g}; expected {unit}, or 0 for ever.")
    return number


def _checked(place: str, days: Any) -> dict[str, float]:
    if not isinstance(days, Mapping) or not set(days) <= set(ENDINGS):
        raise _wrong(f"what it says of {place!r} is {days!r}")
    for ending, number in days.items():
        if isinstance(number, bool) or not isinstance(number, int | float) or number < 0:
            raise _wrong(f"for {place!r} {ending} is {number!r}")
    return {str(ending): float(number) for ending, number in days.items()}


def _wrong(what: str) -> ImproperlyConfigured:
    return ImproperlyConfigured(
        f"VALKYR_KEEP_OVERRIDES: {what}; expected JSON such as {EXAMPLE}, with days (0: for ever) "
        f"for any of {', '.join(ENDINGS)}."
    )
