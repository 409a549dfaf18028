"""How large a value is where everything in it counts as often as it stands there.

`[text] * 1000` holds one text in memory and a thousand when it is compared, sorted or written.
"""

import sys
from collections.abc import ItemsView, KeysView, Mapping, Sized, ValuesView
from typing import Any, TypeVar, cast

from executions.templating.meter import build, charge

# Characters that are compared, searched or copied in a microsecond, cautiously.
CHARACTERS = 256
# Items of a list that are looked at in a microsecond without looking into them.
ITEMS = 16
# Memory of a short text.
ITEM_BYTES = 60

# Values that are looked at between two charges.
STRIDE = 1_000

T = TypeVar("T")

_SCALARS = (bool, int, float, type(None))
_MANY = (list, tuple, range, KeysView, ValuesView, ItemsView)


def charge_whole(value: Any, times: int = 1) -> None:
    """Charge for looking `times` times at every value and character in `value`."""
    kind = type(value)
    if kind is str:
        charge(times * (1 + len(value) // CHARACTERS))
    elif kind in _SCALARS:
        charge(times)
    else:
        _charge_parts(value, times)


def charge_items(value: Any) -> None:
    """Charge for looking at each item of a list, not into it; for a text, at its characters."""
    try:
        length = len(value)
    except TypeError:
        length = 0
    charge(1 + length // (CHARACTERS if isinstance(value, str) else ITEMS))


def text_length(value: Any) -> int:
    """Return the most characters that the text of a value can have, each one charged for."""
    parts, characters = _charge_parts(value, 1)
    # A number, a bracket or null has at most 32 characters, an escape such as \\U0001f600 ten.
    return 32 * parts + 10 * characters


def built(value: T, *, new_items: bool = False) -> T:
    """Return a value that was built, its memory charged, with `new_items` that of its items."""
    size = sys.getsizeof(value)
    if new_items:
        size += ITEM_BYTES * len(cast("Sized", value))
    build(size)
    return value


def _charge_parts(value: Any, times: int) -> tuple[int, int]:
    """Charge for every value in `value`, keys included; return how many, and their characters."""
    pending = [value]
    units = parts = characters = 0
    while pending:
        one = pending.pop()
        parts += 1
        if isinstance(one, str):
            characters += len(one)
            units += len(one) // CHARACTERS
        elif isinstance(one, Mapping):
            pending.extend(one)
            pending.extend(one.values())
        elif isinstance(one, _MANY):
            pending.extend(one)
        elif isinstance(one, int):
            characters += one.bit_length()
        units += 1
        if units > STRIDE:
            charge(times * units)
            units = 0
    charge(times * units)
    return parts, characters
