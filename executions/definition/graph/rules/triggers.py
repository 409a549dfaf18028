"""Rules for triggers: times of schedules, names, filters, and addresses of brokers."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from executions.definition.graph.problem import DefinitionProblem, did_you_mean, problem
from executions.definition.graph.rules.references import single_name_problems
from executions.definition.graph.schema import shown
from executions.definition.templates import one_expression
from executions.definition.templating.errors import Pointer

# A CRON trigger needs a known time zone, and five fields that match at least one time and that both
# schedulers (croniter and beat) interpret in the same way.


# Without L, W, # and ?, which croniter accepts, but beat, which fires the ticks, does not.
_FIELD = re.compile(r"[0-9A-Za-z*,/-]+")
_NAMES = re.compile(r"[A-Za-z]+")
_MONTHS = frozenset(
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
)
_WEEKDAYS = frozenset(["sun", "mon", "tue", "wed", "thu", "fri", "sat"])
_ANY_TIME = datetime(2024, 1, 1, tzinfo=UTC)


def schedule_problems(trigger: Mapping[str, Any], pointer: Pointer) -> Iterator[DefinitionProblem]:
    """Yield problems of a CRON trigger's schedule, time zone, start and end."""
    if isinstance(trigger.get("schedule"), str):
        yield from _schedule(trigger["schedule"], (*pointer, "schedule"))
    if isinstance(trigger.get("timezone"), str):
        yield from _timezone(trigger["timezone"], (*pointer, "timezone"))
    yield from _span(trigger, pointer)


def _schedule(schedule: str, pointer: Pointer) -> Iterator[DefinitionProblem]:
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
        message = f'"{schedule}" may contain only numbers, names of months and days, and * , - /'
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


def _span(trigger: Mapping[str, Any], pointer: Pointer) -> Iterator[DefinitionProblem]:
    instants: dict[str, datetime] = {}
    for key in ("startAt", "endAt"):
        if isinstance(trigger.get(key), str):
            instant = _instant(trigger[key])
            if instant is None:
                message = (
                    f"expected a date and time with a zone, such as 2026-03-01T08:00:00+01:00 or "
                    f"2026-03-01T07:00:00Z, found {shown(trigger[key])}"
                )
                yield problem((*pointer, key), "bad_instant", message)
            else:
                instants[key] = instant
    if len(instants) == 2 and instants["endAt"] <= instants["startAt"]:
        message = "endAt must come after startAt, or the trigger never fires"
        yield problem((*pointer, "endAt"), "value", message)


def _instant(text: str) -> datetime | None:
    """Return an ISO 8601 instant in UTC; None if the text is invalid or has no time zone."""
    try:
        instant = datetime.fromisoformat(text)
        return instant.astimezone(UTC) if instant.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None


def _timezone(name: str, pointer: Pointer) -> Iterator[DefinitionProblem]:
    known = _timezones()
    if name not in known:
        hint = did_you_mean(name, known, at_most=len(known)) or "; use a name such as Europe/Berlin"
        yield problem(pointer, "unknown_timezone", f'there is no time zone "{name}"{hint}')


@lru_cache(maxsize=1)
def _timezones() -> frozenset[str]:
    from zoneinfo import available_timezones

    return frozenset(available_timezones())


ENVIRONMENT = "env:"
BROKERS = ("redis", "rediss", "amqp", "amqps")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def trigger_problems(document: Mapping[str, Any]) -> Iterator[DefinitionProblem]:
    """Yield problems of triggers, such as bad schedules and names, and secrets in addresses."""
    triggers = document.get("triggers")
    for index, trigger in enumerate(triggers if isinstance(triggers, list) else []):
        pointer: Pointer = ("triggers", index)
        match trigger:
            case {"type": "CRON"}:
                yield from schedule_problems(trigger, pointer)
            case {"type": "EVENT"}:
                yield from _name(trigger.get("event"), (*pointer, "event"))
                yield from _filter(trigger.get("filter"), (*pointer, "filter"))
            case {"type": "QUEUE"}:
                yield from _name(trigger.get("queue"), (*pointer, "queue"))
                yield from _broker(trigger.get("broker"), (*pointer, "broker"))


def _name(name: Any, pointer: Pointer) -> Iterator[DefinitionProblem]:
    if isinstance(name, str) and name and (not name.isprintable() or name != name.strip()):
        message = (
            "a name must not contain control characters or begin or end with spaces; found "
            f"{shown(name)}"
        )
        yield problem(pointer, "bad_name", message)


def _filter(text: Any, pointer: Pointer) -> Iterator[DefinitionProblem]:
    if not isinstance(text, str):
        return
    if not one_expression(text):
        message = (
            "a filter is one expression, such as {{ event.total > 0 }}, with nothing around it; "
            f"found {shown(text)}"
        )
        yield problem(pointer, "not_an_expression", message)
        return
    reason = "a filter is evaluated before an execution exists"
    yield from single_name_problems(text, pointer, "event", "event_only", reason)


def _broker(address: Any, pointer: Pointer) -> Iterator[DefinitionProblem]:
    if not isinstance(address, str) or not address:
        return
    if address.startswith(ENVIRONMENT):
        name = address.removeprefix(ENVIRONMENT)
        if _VARIABLE.fullmatch(name) is None:
            message = (
                f"{shown(name)} is not the name of an environment variable; write env:ORDERS_URL"
            )
            yield problem(pointer, "bad_broker", message)
        return
    # The address itself is never shown, because it may contain a password that was not recognised.
    servers = [_server(one) for one in address.split(";")]  # such as amqp://a//;amqp://b//
    secret = any(has_secret for _, has_secret in servers)
    if not all(sound for sound, _ in servers):
        message = (
            "expected an address that starts with "
            f"{', '.join(f'{name}://' for name in BROKERS)} and has a host, or env:NAME for "
            "an environment variable that contains it"
        )
        yield problem(pointer, "bad_broker", message)
    elif secret:
        message = (
            "a definition must not contain a password: store the address in an environment "
            "variable of the consumer, and write env:NAME here"
        )
        yield problem(pointer, "secret_in_definition", message)


def _server(address: str) -> tuple[bool, bool]:
    """Return whether the text is a broker's address, and whether it contains a secret."""
    try:
        parts = urlsplit(address)
        sound = parts.scheme in BROKERS and bool(parts.hostname) and (parts.port or 1) > 0
        secret = bool(parts.password) or any("pass" in key for key, _ in parse_qsl(parts.query))
    except ValueError:
        return False, False
    return sound, secret
