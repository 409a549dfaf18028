"""The values that an expression may return: JSON, of limited size."""

import json
import math
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from jinja2 import Undefined

from executions.definition.templating.budget import RenderBudget
from executions.definition.templating.errors import TooLarge
from executions.definition.templating.paths import kind

# The maximum size of a single value of an expression, and the sizes of texts and lists in bytes.


MAX_TEXT = 1_048_576  # characters: of a rendered text and of any text in an expression's value
MAX_ITEMS = 100_000  # items of a list that an expression makes
MAX_VALUES = 1_000_000  # values in one result, nested ones counted
MAX_CHARACTERS = 5 * 1024 * 1024  # characters in all texts of one result: the limit of a payload
MAX_DEPTH = 64
MAX_BITS = 8_192  # bits of a number that an expression computes

POINTER = 8  # bytes of an item's place in a list
OBJECT = 72  # bytes of a short text, a pair or a number


def bounded_text(length: int) -> None:
    """Raise TooLarge for a text of more than MAX_TEXT characters."""
    if length > MAX_TEXT:
        raise TooLarge(
            f"the text would have {_shown(length)} characters; the maximum is {MAX_TEXT:,}"
        )


def bounded_items(count: int) -> None:
    """Raise TooLarge for a list of more than MAX_ITEMS items."""
    if count > MAX_ITEMS:
        raise TooLarge(f"the list would have {_shown(count)} items; the maximum is {MAX_ITEMS:,}")


def bounded_bits(bits: int) -> None:
    """Raise TooLarge for a number of more than MAX_BITS bits."""
    if bits > MAX_BITS:
        raise TooLarge(
            f"the number would have about {_shown(bits)} bits; the maximum is {MAX_BITS:,}"
        )


def built_text(budget: RenderBudget, text: str) -> str:
    """Charge the budget for a new string, and return the string. Raises TooLarge."""
    bounded_text(len(text))
    budget.hold(sys.getsizeof(text))
    return text


def built_texts(budget: RenderBudget, texts: Any) -> Any:
    """Charge the budget for a new list or tuple of strings, and return it. Raises TooLarge."""
    bounded_items(len(texts))
    budget.hold(sum(map(sys.getsizeof, texts)) + POINTER * len(texts))
    return texts


def scan(text: str) -> int:
    """Return the work, in units of the budget, of reading a text once."""
    return 1 + (len(text) >> 3)


def _shown(number: int) -> str:
    return f"{number:,}" if number.bit_length() <= 256 else "far too many"


ENCODING_WORK = 40  # units for writing a list or object as JSON
MAX_DIGITS = 4_300  # as in Python: writing a number takes time quadratic in its digits


class UnusableValue(Exception):
    """The result of an expression is not JSON, or too large."""


def as_json(budget: RenderBudget, value: Any) -> Any:
    """Return `value` as plain JSON types: tuples and generators become lists.

    Raises UnusableValue for anything else, such as NaN, and for a value above the limits, which
    count repeated values each time. Raises Jinja's UndefinedError for a missing value.
    """
    kind_of = type(value)
    if value is None or kind_of is bool:
        return value
    if kind_of is str and len(value) <= MAX_TEXT:
        return value
    if kind_of is int and -_SMALL < value < _SMALL:
        return value
    return _Copy(budget).copy(value, 0)


def as_text(budget: RenderBudget, value: Any) -> str:
    """Return text unchanged, and any other value as JSON text. Raises UnusableValue or TooLarge."""
    kind_of = type(value)
    if kind_of is str:
        return value  # type: ignore[no-any-return]
    if kind_of is int and -_SMALL < value < _SMALL:
        return str(value)
    copied = _Copy(budget)
    plain = copied.copy(value, 0)
    if isinstance(plain, str):
        return plain
    bounded_text(copied.characters)  # the minimum; an escaped character takes up to six
    budget.spend(ENCODING_WORK + 2 * copied.values + scan_of(copied.characters))
    return built_text(budget, _encode(plain))


def scan_of(characters: int) -> int:
    """Return the work, in units of the budget, of writing `characters` characters as JSON."""
    return 1 + (characters >> 3)


_SMALL = 2**63
_AS_THEY_ARE = frozenset({bool, type(None)})
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


class _Copy:
    """Copies one value; `values` and `characters` count what has been copied so far."""

    __slots__ = ("_budget", "characters", "values")

    def __init__(self, budget: RenderBudget) -> None:
        self._budget = budget
        self.values = 0
        self.characters = 0

    def copy(self, value: Any, depth: int) -> Any:
        kind_of = type(value)
        self.values += 1
        if self.values > MAX_VALUES:
            raise UnusableValue(f"the result has more than {MAX_VALUES:,} values")
        self._budget.spend(6)
        if kind_of is str:
            return self._text(value)
        if kind_of in _AS_THEY_ARE or (kind_of is int and -_SMALL < value < _SMALL):
            return value
        if kind_of is dict or isinstance(value, Mapping):
            return self._object(value, depth + 1)
        if kind_of is list or isinstance(value, (tuple, range, Iterator)):
            return self._list(value, depth + 1)
        return self._scalar(value)

    def _object(self, value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        self._enter(depth)
        copied = {}
        for name, item in value.items():
            if not isinstance(name, str):
                raise UnusableValue(f"a key of the object is {kind(name)}; keys must be text")
            copied[self._text(name)] = self.copy(item, depth)
        self._budget.hold(sys.getsizeof(copied))
        return copied

    def _list(self, value: Any, depth: int) -> list[Any]:
        self._enter(depth)
        copied = [self.copy(item, depth) for item in value]
        self._budget.hold(sys.getsizeof(copied))
        return copied

    def _enter(self, depth: int) -> None:
        self._budget.spend(10)
        if depth > MAX_DEPTH + 1:
            raise UnusableValue(f"the result is nested more than {MAX_DEPTH} levels deep")

    def _scalar(self, value: Any) -> Any:
        if isinstance(value, Undefined):
            return str(value)  # raises an error that names the missing value
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, float):
            return _checked_number(value)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int):
            return self._integer(value)
        if callable(value):
            raise UnusableValue("the expression yields a method, not a value; call it with ()")
        raise UnusableValue(f"the expression yields {kind(value)}, which is not JSON")

    def _text(self, value: str) -> str:
        if len(value) > MAX_TEXT:
            raise UnusableValue(f"the text is longer than {MAX_TEXT:,} characters")
        self._count(len(value))
        return str.__str__(value)

    def _integer(self, value: int) -> int:
        bits = value.bit_length()
        if bits > 64:
            digits = bits * 30_103 // 100_000
            if digits >= MAX_DIGITS:
                raise UnusableValue(f"the number has more than {MAX_DIGITS:,} digits")
            self._budget.spend(digits * digits >> 12)
            self._count(digits)
        return value

    def _count(self, characters: int) -> None:
        self.characters += characters
        if self.characters > MAX_CHARACTERS:
            raise UnusableValue(f"the result has more than {MAX_CHARACTERS:,} characters in total")


def _checked_number(value: float) -> float:
    if not math.isfinite(value):
        raise UnusableValue(f"the number is {value}, which JSON cannot hold")
    return value


# The size of a value, in which each part is counted as often as it occurs.
#
# `[["a"] * 100] * 100` is three objects in memory, but 10,101 values for code that compares or
# writes it. A shared list is measured once, so the time to weigh a value depends on the number of
# objects, not on the result.


_LIGHT = frozenset({float, bool, type(None)})
_CALL = 10  # units of a call that examines one value
_BLOCK = 7  # a comparison checks about 2**7 characters in the time of one value


def weigh(budget: RenderBudget, value: Any) -> int:
    """Return the work to compare, hash or copy a value.

    Raises TooLarge if the value is nested too deeply. The result may be extremely large: charge the
    budget before doing anything with the value.
    """
    return 1 + _more(budget, value, {}, 0)


def _more(budget: RenderBudget, value: Any, known: dict[int, int], depth: int) -> int:
    """Return a value's weight minus 1, because 1 is the least weight of a value."""
    if type(value) in _LIGHT:
        return 0
    if isinstance(value, str):
        return len(value) >> _BLOCK
    if isinstance(value, int):
        return value.bit_length() >> _BLOCK
    if isinstance(value, range):
        return len(value)
    if isinstance(value, (list, tuple, Mapping)):
        found = known.get(id(value))
        if found is None:
            found = known[id(value)] = _inside(budget, value, known, depth)
        return found
    return 0  # an iterator is compared as one object


def _inside(budget: RenderBudget, value: Any, known: dict[int, int], depth: int) -> int:
    if depth > MAX_DEPTH:
        raise TooLarge(f"the value is nested more than {MAX_DEPTH} levels deep")
    budget.spend(2 + 2 * len(value))
    total = len(value)
    for item in value.values() if isinstance(value, Mapping) else value:
        kind = type(item)
        if kind is str:
            total += len(item) >> _BLOCK
        elif kind is int:
            total += item.bit_length() >> _BLOCK
        elif kind not in _LIGHT:
            weight = known.get(id(item))
            if weight is None:
                budget.spend(_CALL)
                weight = _more(budget, item, known, depth + 1)
            total += weight
    if isinstance(value, Mapping):
        total += sum(len(key) >> _BLOCK for key in value if isinstance(key, str))
    return total
