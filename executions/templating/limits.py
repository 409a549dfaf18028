"""Operators, filters and methods that could make a huge value out of a small template, guarded.

Each guard computes the size of the result before it is built.
"""

import operator
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from executions.templating.values import MAX_TEXT, as_text

MAX_ITEMS = 100_000
MAX_BITS = 8_192
MAX_DIGITS = 15

_WIDE_FORMAT = re.compile(r"%[^a-zA-Z%]*?(\d{4,}|\*)")


class TooLarge(ValueError):
    """An operation would build more than a template may."""


def bounded_text(length: int) -> None:
    """Refuse a text of more than MAX_TEXT characters."""
    if length > MAX_TEXT:
        raise TooLarge(f"the text would have {length:,} characters; at most {MAX_TEXT:,} may be")


def bounded_items(count: int) -> None:
    """Refuse a list of more than MAX_ITEMS items."""
    if count > MAX_ITEMS:
        raise TooLarge(f"the list would have {count:,} items; at most {MAX_ITEMS:,} may be")


def bounded_range(*args: int) -> range:
    """`range` of at most MAX_ITEMS numbers."""
    numbers = range(*args)
    if numbers and (numbers[-1] - numbers[0]) // numbers.step >= MAX_ITEMS:
        raise TooLarge(f"range() may give at most {MAX_ITEMS:,} numbers")
    return numbers


def multiply(left: Any, right: Any) -> Any:
    """`left * right` where neither text, list nor number grows past its cap."""
    for value, times in ((left, right), (right, left)):
        if isinstance(times, int):
            if isinstance(value, str):
                bounded_text(len(value) * times)
            elif isinstance(value, Sequence):
                bounded_items(len(value) * times)
            elif isinstance(value, int):
                _bounded_bits(value.bit_length() + times.bit_length())
    return operator.mul(left, right)


def power(left: Any, right: Any) -> Any:
    """`left ** right` where the result stays under MAX_BITS bits."""
    if isinstance(left, int) and isinstance(right, int):
        _bounded_bits(left.bit_length() * abs(right))
    result = operator.pow(left, right)
    if type(result) is complex:
        raise ArithmeticError("the power of these numbers is not a real number")
    return result


def modulo(left: Any, right: Any) -> Any:
    """`left % right`, for numbers and printf-like texts without wide fields."""
    if isinstance(left, str):
        _bounded_format(left)
    return operator.mod(left, right)


def join(items: Iterable[Any], separator: str = "") -> str:
    """The items as one text, what is not text as JSON."""
    texts = [as_text(item) for item in bounded(items)]
    bounded_text(sum(map(len, texts)) + len(separator) * max(len(texts) - 1, 0))
    return separator.join(texts)


def replace(text: str, old: str, new: str, count: int | None = None) -> str:
    """Occurrences of `old` in `text`, all or the first `count`, replaced by `new`."""
    found = text.count(old) if count is None or count < 0 else min(count, text.count(old))
    bounded_text(len(text) + found * max(len(new) - len(old), 0))
    return text.replace(old, new, found)


def format_text(text: str, *args: Any, **kwargs: Any) -> str:
    """printf-like formatting: `"%s of %d" | format("order", 7)`."""
    _bounded_format(text)
    return str(text) % (kwargs or args)


def total(items: Iterable[Any], start: float = 0) -> Any:
    """The sum of numbers."""
    numbers = bounded(items)
    if any(not isinstance(number, (int, float)) for number in [*numbers, start]):
        raise TypeError("sum adds numbers only")
    return sum(numbers, start)


def rounded(value: float, precision: int = 0, method: str = "common") -> float:
    """`value` rounded to `precision` decimals; method is common, ceil or floor."""
    from jinja2.filters import do_round

    if abs(precision) > MAX_DIGITS:
        raise TooLarge(f"round takes at most {MAX_DIGITS} decimals")
    return do_round(value, precision, method)  # type: ignore[arg-type]


def indented(text: str, width: int | str = 4, first: bool = False, blank: bool = False) -> str:
    """`text` with each line but the first moved `width` characters to the right."""
    from jinja2.filters import do_indent

    wide = width if isinstance(width, int) else len(width)
    bounded_text(len(text) + (text.count("\n") + 1) * wide)
    return do_indent(text, width, first, blank)


def with_bounded_count(
    function: Callable[..., Any], bound: Callable[[int], None]
) -> Callable[..., Any]:
    """`function(value, count, …)` with `count` checked first; a missing count passes."""

    def guarded(value: Any, *args: Any, **kwargs: Any) -> Any:
        for number in (*args, *kwargs.values()):
            if isinstance(number, int):
                bound(number)
        return function(value, *args, **kwargs)

    return guarded


def bounded(items: Iterable[Any]) -> list[Any]:
    """The items as a list, at most MAX_ITEMS of them."""
    taken = []
    for item in items:
        taken.append(item)
        bounded_items(len(taken))
    return taken


def _bounded_bits(bits: int) -> None:
    if bits > MAX_BITS:
        raise TooLarge(f"the number would have about {bits:,} bits; at most {MAX_BITS:,} may be")


def _bounded_format(text: str) -> None:
    if _WIDE_FORMAT.search(text):
        raise TooLarge("a field of the format is too wide; at most 999 characters may be")
