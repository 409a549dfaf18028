"""Conditions on values in a dead letter's inputs: `order.country` eq "DE", `tags` contains "x".

Each condition becomes JSON documents; the inputs must contain at least one of them (`@>`). One GIN
index serves the searches for every path. `lines[].sku` matches in any object of the array `lines`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from executions.language import lazy

EQUALS, CONTAINS = "eq", "contains"
OPERATORS = {EQUALS: lazy("equals"), CONTAINS: lazy("contains")}
MAX_CONDITIONS = 5
MAX_PATH = 200
MAX_DEPTH = 12
MAX_VALUE = 1_000
EXAMPLE = 'order.country:eq:"DE"'


class BadCondition(ValueError):
    """A condition is invalid; the message gives the reason."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition on the inputs; `value` is any JSON value."""

    path: str
    op: str
    value: Any

    @property
    def as_text(self) -> str:
        """Return the condition as text for a URL, such as `order.country:eq:"DE"`."""
        return f"{self.path}:{self.op}:{json.dumps(self.value, ensure_ascii=False)}"

    @property
    def said(self) -> str:
        """Return the condition as text for display."""
        return f"{self.path} {OPERATORS[self.op]} {json.dumps(self.value, ensure_ascii=False)}"

    @property
    def documents(self) -> list[Any]:
        """Return JSON documents; the inputs match if they contain at least one of them."""
        if self.op == EQUALS:
            return [_under(self.path, self.value)]
        if isinstance(self.value, list):
            return [_under(self.path, self.value)]
        listed = _under(self.path, [self.value])
        return [listed, _under(self.path, self.value)] if isinstance(self.value, dict) else [listed]

    @property
    def exact_path(self) -> list[str]:
        """Return the keys under which the value must be exactly equal; [] if containment suffices.

        PostgreSQL's `@>` also matches an object with more fields, so equality needs a second check.
        """
        compound = isinstance(self.value, dict | list)
        return self.path.split(".") if self.op == EQUALS and compound else []


def condition(path: Any, op: Any, value: Any) -> Condition:
    """Return a validated condition. Raises BadCondition if it is invalid."""
    if not isinstance(path, str) or not 0 < len(path) <= MAX_PATH:
        raise BadCondition(f"A path is text of 1 to {MAX_PATH} characters, such as order.country.")
    names = path.split(".")
    if len(names) > MAX_DEPTH or not all(name.removesuffix("[]") for name in names):
        raise BadCondition(
            f"The path {path!r} is not valid: expected at most {MAX_DEPTH} names, separated by "
            "dots, such as order.country, or lines[].sku to search all objects of an array."
        )
    _check_value(path)
    if op not in OPERATORS:
        raise BadCondition(f"The comparison {str(op)[:20]!r} is unknown; expected eq or contains.")
    _check_value(value)
    if op == EQUALS and isinstance(value, dict | list) and "[]" in path:
        raise BadCondition("Within an array, eq compares only single values; use contains.")
    return Condition(path, op, value)


def from_text(text: str) -> Condition:
    """Parse a condition from a URL. Raises BadCondition if it is invalid."""
    path, op, value = _parts(text)
    try:
        return condition(path, op, json.loads(value, parse_constant=_refuse))
    except json.JSONDecodeError as error:
        raise BadCondition(
            f"The value {value[:60]!r} is not valid JSON ({error.msg} at column {error.colno}); "
            'put text in quotes: "DE".'
        ) from None
    except RecursionError:
        raise BadCondition("The value is nested too deeply.") from None


def from_form(path: str, op: str, value: str) -> Condition:
    """Return a condition; a `value` that is not valid JSON is plain text. Raises BadCondition."""
    try:
        parsed = json.loads(value, parse_constant=_refuse)
    except (ValueError, RecursionError):
        parsed = value
    return condition(path.strip(), op, parsed)


def several(wanted: Sequence[Mapping[str, Any]]) -> list[Condition]:
    """Return the conditions for decoded JSON objects with the keys `path`, `op` and `value`.

    Raises BadCondition if one is invalid or there are too many.
    """
    if len(wanted) > MAX_CONDITIONS:
        raise BadCondition(f"At most {MAX_CONDITIONS} conditions on inputs, found {len(wanted)}.")
    return [condition(one.get("path"), one.get("op"), one.get("value")) for one in wanted]


def _parts(text: str) -> tuple[str, str, str]:
    """Split the text of a condition into its path, operator and value. Raises BadCondition.

    The first `:eq:` or `:contains:` ends the path, which may contain `:`.
    """
    found = [(text.find(f":{op}:"), op) for op in OPERATORS if f":{op}:" in text]
    if not found:
        raise BadCondition(f"{text[:60]!r} is not a condition on inputs; expected {EXAMPLE}.")
    at, op = min(found)
    return text[:at], op, text[at + len(op) + 2 :]


def _under(path: str, value: Any) -> Any:
    for name in reversed(path.split(".")):
        key = name.removesuffix("[]")
        value = {key: [value]} if name != key else {key: value}
    return value


def _check_value(value: Any) -> None:
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        text.encode()
    except (ValueError, TypeError, RecursionError, UnicodeEncodeError):
        raise BadCondition("The value is not JSON that PostgreSQL can store.") from None
    if len(text) > MAX_VALUE:
        raise BadCondition(f"The value has {len(text):,} characters; at most {MAX_VALUE:,}.")
    if "\\u0000" in text:
        raise BadCondition(
            "The value contains a NUL character, which stored inputs cannot contain."
        )


def _refuse(name: str) -> Any:
    raise BadCondition(f"{name} is not a JSON value.")
