"""Compare, find and sort values; the work is charged first, based on the weights of both sides.

Python compares nested lists in one call that nothing can interrupt. A comparison reads at most the
values of the lighter side. Finding reads at most the container's values, or its length times the
item's weight. Sorting reads at most all keys in each of log2(n) rounds.
"""

import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from jinja2 import Undefined

from executions.definition.templating.budget import RenderBudget
from executions.definition.templating.values import OBJECT, POINTER, scan, weigh

SCALARS = frozenset({str, int, float, bool, type(None)})
SHORT_TEXT = 128  # comparing one costs no more than the call

Comparison = Callable[[RenderBudget, Any, Any], Any]


def _comparison(compare: Callable[[Any, Any], Any]) -> Comparison:
    def compared(budget: RenderBudget, left: Any, right: Any) -> Any:
        before_comparing(budget, left, right)
        return compare(left, right)

    return compared


def before_comparing(budget: RenderBudget, left: Any, right: Any) -> None:
    """Charge the budget for one comparison of two values."""
    kind = type(left)
    if kind in SCALARS or type(right) in SCALARS:
        if kind is str and type(right) is str and len(left) > SHORT_TEXT:
            budget.spend(1 + (min(len(left), len(right)) >> 7))
    else:
        budget.spend(min(weigh(budget, left), weigh(budget, right)))


equal = _comparison(operator.eq)
COMPARISONS: Mapping[str, Comparison] = {
    "eq": equal,
    "ne": _comparison(operator.ne),
    "lt": _comparison(operator.lt),
    "lteq": _comparison(operator.le),
    "gt": _comparison(operator.gt),
    "gteq": _comparison(operator.ge),
}


def contains(budget: RenderBudget, container: Any, item: Any) -> bool:
    """Return whether the container contains the item; charge the budget first."""
    if isinstance(container, str):
        budget.spend(scan(container) + (scan(item) if isinstance(item, str) else 0))
    elif isinstance(container, Mapping):
        key(item)
    elif isinstance(container, (list, tuple, range)):
        _before_finding(budget, container, item)
    elif hasattr(container, "__next__"):
        container = taken(budget, container)
        _before_finding(budget, container, item)
    return item in container


def index(
    budget: RenderBudget, items: Any, item: Any, start: int = 0, stop: int | None = None
) -> int:
    """Return the index of `item` in a list. Raises ValueError if the list does not contain it."""
    _before_finding(budget, items, item)
    bounds = (start,) if stop is None else (start, stop)
    try:
        return (
            int(items.index(item, *bounds))
            if type(items) is not list
            else _index(items, item, bounds)
        )
    except ValueError:
        raise ValueError("index() found no such item in the list") from None


def count(budget: RenderBudget, items: Any, item: Any) -> int:
    """Return how many times `item` occurs in a list."""
    _before_finding(budget, items, item)
    return int(items.count(item))


def _index(items: list[Any], item: Any, bounds: tuple[int, ...]) -> int:
    # The error of list.index contains the item, even a large one; that of tuple.index does not.
    return tuple(items).index(item, *bounds)


def _before_finding(budget: RenderBudget, items: Any, item: Any) -> None:
    if type(item) in SCALARS:
        budget.spend(1 + len(items) * (1 + (len(item) >> 7 if type(item) is str else 0)))
    else:
        budget.spend(min(weigh(budget, items), 1 + len(items) * weigh(budget, item)))


def key(value: Any) -> Any:
    """Return a scalar for use as a key. Raises TypeError for containers.

    Hashing a tuple would read all of its items at each use.
    """
    if type(value) not in SCALARS and not isinstance(value, str):
        if isinstance(value, Undefined):
            str(value)  # raises an error that names the missing value
        raise TypeError("a key must be text or a number, not a list or an object")
    return value


def taken(budget: RenderBudget, items: Iterable[Any]) -> list[Any]:
    """Return the items as a new list, which is charged to the budget."""
    if isinstance(items, str):
        budget.spend(1 + 2 * len(items))
        budget.hold((POINTER + (0 if items.isascii() else OBJECT)) * len(items))
        return list(items)
    if isinstance(items, (list, tuple, Mapping, range)):
        budget.spend(1 + len(items))
        budget.hold((POINTER + (OBJECT if isinstance(items, range) else 0)) * len(items))
        return list(items)
    found = []
    for item in items:
        budget.spend(2)
        budget.hold(POINTER)
        found.append(item)
    return found


def ordered(
    budget: RenderBudget, items: list[Any], key_of: Callable[[Any], Any], *, reverse: bool = False
) -> list[Any]:
    """Return the items sorted by the keys that `key_of` returns."""
    keys = keys_of(budget, items, key_of)
    rounds = max(len(keys).bit_length(), 1)
    budget.spend(rounds * (len(keys) + _weights(budget, keys)) // 2)
    order = sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)
    return [items[at] for at in order]


def extreme(
    budget: RenderBudget, items: list[Any], key_of: Callable[[Any], Any], choose: Callable[..., Any]
) -> Any:
    """Return the item with the least or greatest key; `choose` is min or max."""
    keys = keys_of(budget, items, key_of)
    budget.spend(len(keys) + _weights(budget, keys))
    return items[choose(range(len(keys)), key=keys.__getitem__)]


def keys_of(budget: RenderBudget, items: list[Any], key_of: Callable[[Any], Any]) -> list[Any]:
    """Return the key of each item; each read is charged to the budget."""
    budget.hold(POINTER * len(items))
    return [key_of(item) for item in items]


def _weights(budget: RenderBudget, keys: list[Any]) -> int:
    return sum(weigh(budget, key) for key in keys)


class Chained:
    """An operand of `a < b < c`: Python chains the comparisons, and each is charged."""

    __slots__ = ("budget", "value")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, budget: RenderBudget, value: Any) -> None:
        self.budget = budget
        self.value = value

    def __eq__(self, other: object) -> Any:
        return COMPARISONS["eq"](self.budget, self.value, _value(other))

    def __ne__(self, other: object) -> Any:
        return COMPARISONS["ne"](self.budget, self.value, _value(other))

    def __lt__(self, other: Any) -> Any:
        return COMPARISONS["lt"](self.budget, self.value, other.value)

    def __le__(self, other: Any) -> Any:
        return COMPARISONS["lteq"](self.budget, self.value, other.value)

    def __gt__(self, other: Any) -> Any:
        return COMPARISONS["gt"](self.budget, self.value, other.value)

    def __ge__(self, other: Any) -> Any:
        return COMPARISONS["gteq"](self.budget, self.value, other.value)

    def __contains__(self, item: Any) -> bool:
        return contains(self.budget, self.value, item.value)


def _value(operand: Any) -> Any:
    return operand.value
