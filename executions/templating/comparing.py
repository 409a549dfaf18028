"""Comparisons, counted: Python compares nested lists in one call that nothing can interrupt."""

import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from jinja2 import Undefined

from executions.templating.limits import bounded
from executions.templating.meter import charge
from executions.templating.sizes import CHARACTERS, charge_items, charge_whole

_SCALARS = (int, float, str, bool, type(None))


def _counted(compare: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def counted(left: Any, right: Any) -> Any:
        if isinstance(left, str) and isinstance(right, str):
            charge(1 + min(len(left), len(right)) // CHARACTERS)
        elif isinstance(left, _SCALARS) or isinstance(right, _SCALARS):
            charge(1)
        else:
            charge_whole(left)  # at most so much of the other is looked at
        return compare(left, right)

    return counted


def contains(value: Any, container: Any) -> bool:
    """`value in container`."""
    if isinstance(container, str | range | Undefined):
        charge_items(container)
        charge_items(value)
    elif isinstance(container, Mapping):
        charge_whole(value)  # it is hashed
    elif isinstance(value, _SCALARS) and isinstance(container, list | tuple):
        charge_items(container)
        if isinstance(value, str):
            # Equal texts that are not the same one are compared to the end.
            charge(len(container) * len(value) // CHARACTERS // 16)
    else:
        if isinstance(container, Iterator):
            container = bounded(container)
        charge_whole(container)
        charge_whole(value)
    return operator.contains(container, value)


def _lacks(value: Any, container: Any) -> bool:
    return not contains(value, container)


# By the names that Jinja's parser gives operators.
OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "eq": _counted(operator.eq),
    "ne": _counted(operator.ne),
    "gt": _counted(operator.gt),
    "gteq": _counted(operator.ge),
    "lt": _counted(operator.lt),
    "lteq": _counted(operator.le),
    "in": contains,
    "notin": _lacks,
}
_NAMES = {
    "eq": ("==", "eq", "equalto"),
    "ne": ("!=", "ne"),
    "gt": (">", "gt", "greaterthan"),
    "gteq": (">=", "ge"),
    "lt": ("<", "lt", "lessthan"),
    "lteq": ("<=", "le"),
    "in": ("in",),
}
# By the names of Jinja's tests: `items | select("gt", 3)`.
TESTS: Mapping[str, Callable[[Any, Any], Any]] = {
    name: OPERATORS[operation] for operation, names in _NAMES.items() for name in names
}
