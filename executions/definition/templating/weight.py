"""How large a value is when everything in it is counted as often as it occurs.

`[["a"] * 100] * 100` is three objects in memory and 10,101 values to whoever compares or writes
it. A shared list is looked into once, so weighing costs what the objects cost, not what they weigh.
"""

from collections.abc import Mapping
from typing import Any

from executions.definition.templating.budget import RenderBudget
from executions.definition.templating.errors import TooLarge
from executions.definition.templating.sizes import MAX_DEPTH

_LIGHT = frozenset({float, bool, type(None)})
_CALL = 10  # units of a call that looks into one value
_BLOCK = 7  # a comparison looks at about 2**7 characters in the time of one value


def weigh(budget: RenderBudget, value: Any) -> int:
    """The work of comparing, hashing or copying a value; raises TooLarge when it nests too deep.

    The result may be astronomic: spend it before doing anything with the value.
    """
    return 1 + _more(budget, value, {}, 0)


def _more(budget: RenderBudget, value: Any, known: dict[int, int], depth: int) -> int:
    """What a value weighs beyond the one that every value does."""
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
        raise TooLarge(f"the value is nested more than {MAX_DEPTH} deep")
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
