"""Operators, filters and methods that could make a huge value out of a small template, guarded.

Each guard computes the size of the result before it is built, and charges for the work.
"""

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from executions.templating.formats import formatted
from executions.templating.meter import charge
from executions.templating.sizes import built, charge_items, charge_whole, text_length
from executions.templating.values import MAX_TEXT, MAX_VALUES, TooLarge, as_text

MAX_ITEMS = 100_000
MAX_BITS = 8_192
MAX_DIGITS = 15


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


def add(left: Any, right: Any) -> Any:
    """`left + right` where neither text nor list grows past its cap."""
    if isinstance(left, str) and isinstance(right, str):
        bounded_text(len(left) + len(right))
        charge_items(left)
    elif isinstance(left, list | tuple) and isinstance(right, list | tuple):
        if len(left) + len(right) > MAX_VALUES:
            raise TooLarge(f"the list would have more than {MAX_VALUES:,} items")
        charge_items(left)
        charge_items(right)
    return built(operator.add(left, right))


def multiply(left: Any, right: Any) -> Any:
    """`left * right` where neither text, list nor number grows past its cap."""
    for value, times in ((left, right), (right, left)):
        if isinstance(times, int):
            if isinstance(value, str):
                bounded_text(len(value) * times)
            elif isinstance(value, Sequence):
                bounded_items(len(value) * times)
            elif isinstance(value, int):
                bounded_bits(value.bit_length() + times.bit_length())
    return built(operator.mul(left, right))


def power(left: Any, right: Any) -> Any:
    """`left ** right` where the result stays under MAX_BITS bits."""
    if isinstance(left, int) and isinstance(right, int):
        bounded_bits(left.bit_length() * abs(right))
    result = operator.pow(left, right)
    if type(result) is complex:
        raise ArithmeticError("the power of these numbers is not a real number")
    return result


def modulo(left: Any, right: Any) -> Any:
    """`left % right`, for numbers and printf-like texts."""
    if isinstance(left, str):
        return built(formatted(left, right))
    return operator.mod(left, right)


def concatenated(first: str, *others: str) -> str:
    """`first ~ second ~ …`, of texts."""
    bounded_text(len(first) + sum(map(len, others)))
    charge(1 + len(others))
    return built("".join((first, *others)))


def sliced(value: Any, start: Any, stop: Any, step: Any) -> Any:
    """`value[start:stop:step]`."""
    charge_items(value)
    return built(value[start:stop:step])


def key(value: Any) -> str:
    """A key of an object that an expression writes out; raises TypeError for what is no text."""
    if not isinstance(value, str):
        raise TypeError("a key of an object must be text")
    return value


def join(items: Iterable[Any], separator: str = "") -> str:
    """The items as one text, what is not text as JSON."""
    texts: list[str] = []
    length = 0
    for item in items:
        charge(1)
        text = as_text(item)
        length += len(text) + len(separator)
        bounded_text(length - len(separator))
        bounded_items(len(texts) + 1)
        texts.append(text)
    return built(separator.join(texts))


def replace(text: str, old: str, new: str, count: int | None = None) -> str:
    """Occurrences of `old` in `text`, all or the first `count`, replaced by `new`."""
    charge_whole(text, 2)
    found = text.count(old) if count is None or count < 0 else min(count, text.count(old))
    bounded_text(len(text) + found * max(len(new) - len(old), 0))
    charge(found // 16)
    return built(text.replace(old, new, found))


def format_text(text: str, *args: Any, **kwargs: Any) -> str:
    """printf-like formatting: `"%s of %d" | format("order", 7)`."""
    if args and kwargs:
        raise TypeError("format takes values by position or by name, not both")
    return built(formatted(plain_text(text), kwargs or args))


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


def whole_number(value: Any, default: int = 0, base: int = 10) -> int:
    """`value` as a whole number of at most MAX_BITS bits; `default` where it is none."""
    from jinja2.filters import do_int

    charge_items(value)
    number = do_int(value, default, base)
    if isinstance(number, int):
        bounded_bits(number.bit_length())
    return number


def indented(text: str, width: int | str = 4, first: bool = False, blank: bool = False) -> str:
    """`text` with each line but the first moved `width` characters to the right."""
    from jinja2.filters import do_indent

    charge_whole(text, 4)
    wide = width if isinstance(width, int) else len(width)
    bounded_text(len(text) + (len(text.splitlines()) + 1) * max(wide, 0))
    return built(do_indent(text, width, first, blank))


def without_tags(text: Any) -> str:
    """`text` without comments and tags. The library copies the text once for each of these."""
    from jinja2.filters import do_striptags

    text = plain_text(text)
    charge((1 + text.count("<")) * (1 + len(text) // 1024))
    return built(do_striptags(text))


def plain_text(value: Any) -> str:
    """`value` as text: a container as Python writes it, if that is short enough."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, Mapping | list | tuple):
        bounded_text(text_length(value))
    return str(value)


def bounded(items: Iterable[Any]) -> list[Any]:
    """The items as a list, at most MAX_ITEMS of them."""
    taken = []
    for item in items:
        charge(1)
        taken.append(item)
        bounded_items(len(taken))
    return taken


def bounded_bits(bits: int) -> None:
    """Refuse a whole number of more than MAX_BITS bits."""
    if bits > MAX_BITS:
        raise TooLarge(f"the number would have about {bits:,} bits; at most {MAX_BITS:,} may be")
