"""The tests after `is`; those that compare count it, those of numbers take numbers only.

Jinja's `odd`, `even` and `divisibleby` use `%`, which for a text is a format.
"""

from collections.abc import Callable, Mapping
from typing import Any

from jinja2.tests import TESTS

from executions.definition.templating.arithmetic import number
from executions.definition.templating.budget import RenderBudget
from executions.definition.templating.comparing import COMPARISONS, contains
from executions.definition.templating.texts import string

# They look at the type of a value, or whether it is there: no work, whatever it holds.
OF_TYPE = (
    *("boolean", "callable", "defined", "escaped", "false", "float", "integer", "iterable"),
    *("mapping", "none", "number", "sameas", "sequence", "string", "true", "undefined"),
)
_ALIASES = {
    "eq": ("eq", "==", "equalto"),
    "ne": ("ne", "!="),
    "gt": ("gt", ">", "greaterthan"),
    "gteq": ("ge", ">="),
    "lt": ("lt", "<", "lessthan"),
    "lteq": ("le", "<="),
}


def _odd(_: RenderBudget, value: Any) -> bool:
    return bool(number(value, "odd") % 2 == 1)


def _even(_: RenderBudget, value: Any) -> bool:
    return bool(number(value, "even") % 2 == 0)


def _divisible(_: RenderBudget, value: Any, num: Any) -> bool:
    return bool(number(value, "divisibleby") % number(num, "divisibleby") == 0)


def _lower(budget: RenderBudget, value: Any) -> bool:
    text = string(budget, value)
    budget.spend(1 + (len(text) >> 3))
    return text.islower()


def _upper(budget: RenderBudget, value: Any) -> bool:
    text = string(budget, value)
    budget.spend(1 + (len(text) >> 3))
    return text.isupper()


def _within(budget: RenderBudget, value: Any, seq: Any) -> bool:
    return contains(budget, seq, value)


COUNTED: Mapping[str, Callable[..., Any]] = {
    **{alias: COMPARISONS[name] for name, aliases in _ALIASES.items() for alias in aliases},
    "divisibleby": _divisible,
    "even": _even,
    "in": _within,
    "lower": _lower,
    "odd": _odd,
    "upper": _upper,
}
_TESTS: Mapping[str, Any] = TESTS
PLAIN: Mapping[str, Callable[..., Any]] = {name: _TESTS[name] for name in OF_TYPE}
