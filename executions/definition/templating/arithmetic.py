"""Arithmetic on numbers, and `+` and `*` on strings and lists, with sizes checked in advance.

`*` and `**` limit integers to MAX_BITS bits; `+` and `-` add one bit each, and an expression has
few of them. Division and `%` of numbers never exceed the limits.
"""

import math
import operator
from typing import Any

from jinja2 import Undefined
from jinja2.filters import do_filesizeformat

from executions.definition.templating import formats
from executions.definition.templating.budget import RenderBudget
from executions.definition.templating.comparing import taken
from executions.definition.templating.errors import TooLarge
from executions.definition.templating.values import (
    MAX_ITEMS,
    POINTER,
    bounded_bits,
    bounded_items,
    bounded_text,
    built_text,
)

NUMBERS = frozenset({int, float})
MAX_DIGITS = 15
MAX_NUMBER_TEXT = 1_000


def add(budget: RenderBudget, left: Any, right: Any) -> Any:
    """Return `left + right`. Raises TooLarge for a string or list over the limit."""
    if type(left) in NUMBERS:
        return left + right
    if isinstance(left, str) and isinstance(right, str):
        bounded_text(len(left) + len(right))
        return built_text(budget, left + right)
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        _before_list(budget, len(left) + len(right))
    return operator.add(left, right)


def multiply(budget: RenderBudget, left: Any, right: Any) -> Any:
    """Return `left * right`. Raises TooLarge for a number, string or list over its limit."""
    for value, times in ((left, right), (right, left)):
        if isinstance(times, int):
            if isinstance(value, str):
                bounded_text(len(value) * times)
                return built_text(budget, value * times)
            if isinstance(value, (list, tuple)):
                _before_list(budget, len(value) * times)
            elif isinstance(value, int):
                bounded_bits(value.bit_length() + times.bit_length())
    return operator.mul(left, right)


def power(budget: RenderBudget, left: Any, right: Any) -> Any:
    """Return `left ** right`. Raises TooLarge, and ArithmeticError for a complex result."""
    if isinstance(left, int) and isinstance(right, int):
        bounded_bits(left.bit_length() * abs(right))
        budget.spend(20)
    result = operator.pow(left, right)
    if type(result) is complex:
        raise ArithmeticError("the power of these numbers is not a real number")
    return result


def modulo(budget: RenderBudget, left: Any, right: Any) -> Any:
    """Return `left % right`: the remainder of numbers, or a string formatted like printf."""
    if isinstance(left, str):
        return formats.printf(budget, left, right)
    return operator.mod(left, right)


def total(budget: RenderBudget, items: Any, start: float = 0) -> Any:
    """Apply the filter `sum`: add numbers to `start`. Raises TypeError for items of other types."""
    numbers = taken(budget, items)
    if any(not isinstance(number, (int, float)) for number in [*numbers, start]):
        raise TypeError("sum adds numbers only")
    return sum(numbers, start)


def absolute(_: RenderBudget, value: Any) -> Any:
    """Apply the filter `abs` to a number. The result needs no more bits than the number itself."""
    return abs(number(value, "abs"))


def rounded(_: RenderBudget, value: Any, precision: int = 0, method: str = "common") -> Any:
    """Apply the filter `round`: round `value` to `precision` decimals.

    `method` is `common`, `ceil` or `floor`. Raises TooLarge for more than MAX_DIGITS decimals.
    """
    digits = number(precision, "round")
    if abs(digits) > MAX_DIGITS:
        raise TooLarge(f"round takes at most {MAX_DIGITS} decimals")
    if method not in ("common", "ceil", "floor"):
        raise ValueError("round takes the method common, ceil or floor")
    value = number(value, "round")
    if method == "common":
        return round(value, precision)
    scale = 10**precision
    return (math.ceil if method == "ceil" else math.floor)(value * scale) / scale


def to_int(_: RenderBudget, value: Any, default: Any = 0, base: int = 10) -> Any:
    """Apply the filter `int`; return `default` on failure. Raises TooLarge for a long string."""
    try:
        if isinstance(value, str):
            _bounded_number_text(value)
            return int(value, base)
        return int(value)
    except TooLarge:
        raise
    except (TypeError, ValueError, OverflowError):
        try:
            return int(float(value))
        except (TypeError, ValueError, OverflowError):
            return default


def to_float(_: RenderBudget, value: Any, default: Any = 0.0) -> Any:
    """Apply the filter `float`; return `default` on failure. Raises TooLarge for a long string."""
    if isinstance(value, str):
        _bounded_number_text(value)
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return default


def file_size(_: RenderBudget, value: Any, binary: bool = False) -> str:
    """Apply the filter `filesizeformat`: return a number of bytes as text, such as `1.2 kB`."""
    if isinstance(value, str):
        _bounded_number_text(value)
    return do_filesizeformat(value, binary)


def numbers_between(budget: RenderBudget, *args: int) -> range:
    """Return a lazy `range` of at most MAX_ITEMS numbers. Raises TooLarge for more."""
    for arg in args:
        if isinstance(arg, int):
            bounded_bits(arg.bit_length())
    numbers = range(*args)
    if numbers and (numbers[-1] - numbers[0]) // numbers.step >= MAX_ITEMS:
        raise TooLarge(f"range() may return at most {MAX_ITEMS:,} numbers")
    budget.spend(1)
    return numbers


def number(value: Any, name: str) -> Any:
    """Return the value. Raises TypeError if it is not a number."""
    if not isinstance(value, (int, float)):
        if isinstance(value, Undefined):
            str(value)  # raises an error that names the missing value
        raise TypeError(f"{name} takes a number")
    return value


def _before_list(budget: RenderBudget, count: int) -> None:
    bounded_items(count)
    budget.spend(1 + (max(count, 0) >> 2))
    budget.hold(POINTER * max(count, 0))


def _bounded_number_text(text: str) -> None:
    if len(text) > MAX_NUMBER_TEXT:
        raise TooLarge(f"the text of a number may have at most {MAX_NUMBER_TEXT:,} characters")
