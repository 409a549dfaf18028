"""What can be worked out of a group's values: counts, sums, averages, extremes, ends, lists."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any, Literal

from runners.public.modules import StepError
from valkyr_plugins.connectors.data.identity import identity
from valkyr_plugins.connectors.data.numbers import ARITHMETIC, as_json, number_of
from valkyr_plugins.connectors.data.ordering import kind, sort_key

Function = Literal["count", "distinct", "sum", "avg", "min", "max", "first", "last", "collect"]
Calculation = Callable[[list[Any], str], Any]


def _sum(values: list[Any], field: str) -> int | float:
    return as_json(_total(values, field))


def _average(values: list[Any], field: str) -> int | float | None:
    if not values:
        return None
    return as_json(ARITHMETIC.divide(_total(values, field), Decimal(len(values))))


def _total(values: list[Any], field: str) -> Decimal:
    total = Decimal(0)
    for value in values:
        number = number_of(value)
        if number is None:
            raise StepError(f"{field} is {kind(value)} in some row, not a number")
        total = ARITHMETIC.add(total, number)
    return total


def _extreme(pick: Callable[..., Any]) -> Calculation:
    def found(values: list[Any], field: str) -> Any:
        if not values:
            return None
        value = pick(values, key=sort_key(values, "auto", field))
        number = number_of(value)
        # As a number, where all are: a CSV's "9" and "10" are compared as such, too.
        if number is not None and all(number_of(other) is not None for other in values):
            return as_json(number)
        return value

    return found


# Each takes the values that are not null, and the field's name for what it may have to say.
CALCULATIONS: dict[Function, Calculation] = {
    "count": lambda values, _: len(values),
    "distinct": lambda values, _: len({identity(value) for value in values}),
    "sum": _sum,
    "avg": _average,
    "min": _extreme(min),
    "max": _extreme(max),
    "first": lambda values, _: values[0] if values else None,
    "last": lambda values, _: values[-1] if values else None,
    "collect": lambda values, _: values,
}
