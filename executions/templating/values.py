"""What an expression may yield: JSON values, in bounded size."""

import json
import math
from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from typing import Any

from jinja2 import Undefined

from executions.templating.paths import kind

MAX_TEXT = 1_048_576  # characters: of a rendered text and of any text in an expression's value
MAX_VALUES = 1_000_000  # values in one result, nested ones counted
MAX_CHARACTERS = 16 * MAX_TEXT  # of all texts in one result, each counted as often as it stands
MAX_DEPTH = 64


class TooLarge(ValueError):
    """An operation would build more than a template may."""


class UnusableValue(Exception):
    """An expression yielded something that is not JSON, or too much of it."""


def as_json(value: Any) -> Any:
    """`value` as plain JSON types: tuples and generators become lists, marked text plain text.

    Raises UnusableValue for anything else (a method, an undefined name, NaN) and past the caps.
    """
    kind_of = type(value)
    if value is None or kind_of is bool or kind_of is int:
        return value
    if kind_of is str and len(value) <= MAX_TEXT:
        return value
    return _Copy().copy(value, 0)


def as_text(value: Any) -> str:
    """`value` inside a longer text: text as it is, everything else as JSON."""
    if type(value) is str:
        return value
    if type(value) is int:
        return str(value)
    plain = as_json(value)
    return plain if isinstance(plain, str) else _encode(plain)


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


class _Copy:
    def __init__(self) -> None:
        self._left = MAX_VALUES
        self._characters = MAX_CHARACTERS

    def copy(self, value: Any, depth: int) -> Any:
        self._left -= 1
        if self._left < 0:
            raise UnusableValue(f"the result has more than {MAX_VALUES:,} values")
        if depth > MAX_DEPTH:
            raise UnusableValue(f"the result is nested more than {MAX_DEPTH} deep")
        if isinstance(value, Undefined):
            # Raises the error that says what was missing.
            return str(value)
        if isinstance(value, str):
            return self._text(value)
        if value is None or isinstance(value, (bool, int)):
            return value
        if isinstance(value, float):
            return _checked_number(value)
        if isinstance(value, Mapping):
            return {self._key(key): self.copy(item, depth + 1) for key, item in value.items()}
        if isinstance(value, _SEQUENCES):
            return [self.copy(item, depth + 1) for item in value]
        if callable(value):
            raise UnusableValue("the expression yields a method, not a value; call it with ()")
        raise UnusableValue(f"the expression yields {kind(value)}, which is not JSON")

    def _text(self, value: str) -> str:
        self._characters -= len(value)
        if self._characters < 0:
            raise UnusableValue(
                f"the texts of the result have more than {MAX_CHARACTERS:,} characters in all"
            )
        return _checked_text(value)

    def _key(self, key: Any) -> str:
        if isinstance(key, str):
            return self._text(key)
        raise UnusableValue(f"a key of the object is {kind(key)}; keys must be text")


_SEQUENCES = (list, tuple, range, Iterator, KeysView, ValuesView, ItemsView)


def _checked_text(value: str) -> str:
    if len(value) > MAX_TEXT:
        raise UnusableValue(f"the text is longer than {MAX_TEXT:,} characters")
    return str.__str__(value)


def _checked_number(value: float) -> float:
    if not math.isfinite(value):
        raise UnusableValue(f"the number is {value}, which JSON cannot hold")
    return value
