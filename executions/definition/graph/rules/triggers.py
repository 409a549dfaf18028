"""Triggers: each by the rules of its type."""

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from executions.definition.graph.problem import DefinitionProblem, problem
from executions.definition.graph.rules.schedules import schedule_problems
from executions.definition.graph.rules.single_names import single_name_problems
from executions.definition.graph.shape import shown
from executions.definition.templates import one_expression
from executions.definition.templating.errors import Pointer

ENVIRONMENT = "env:"
BROKERS = ("redis", "rediss", "amqp", "amqps")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def trigger_problems(document: Mapping[str, Any]) -> Iterator[DefinitionProblem]:
    """Every trigger that could never start anything, or that holds a secret."""
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
        message = f"a name has no control characters and no spaces around it; found {shown(name)}"
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
    reason = "a filter decides before there is an execution"
    yield from single_name_problems(text, pointer, "event", "event_only", reason)


def _broker(address: Any, pointer: Pointer) -> Iterator[DefinitionProblem]:
    if not isinstance(address, str) or not address:
        return
    if address.startswith(ENVIRONMENT):
        name = address.removeprefix(ENVIRONMENT)
        if _VARIABLE.fullmatch(name) is None:
            message = f"{shown(name)} is no name of an environment variable; write env:ORDERS_URL"
            yield problem(pointer, "bad_broker", message)
        return
    # The address itself is never shown: it may hold a password that was not recognised.
    try:
        parts = urlsplit(address)
        sound = parts.scheme in BROKERS and bool(parts.hostname) and (parts.port or 1) > 0
        secret = bool(parts.password) or any("pass" in key for key, _ in parse_qsl(parts.query))
    except ValueError:
        sound = secret = False
    if not sound:
        message = (
            f"expected an address that starts with {', '.join(f'{name}://' for name in BROKERS)} "
            "and names a host, or env:NAME for the environment variable that holds it"
        )
        yield problem(pointer, "bad_broker", message)
    elif secret:
        message = (
            "a definition is no place for a password: put the address into an environment "
            "variable of the consumer, and write env:NAME here"
        )
        yield problem(pointer, "secret_in_definition", message)
