"""`data.aggregate`: group rows by fields, and calculate values for each group."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any, Literal

from pydantic import Field, model_validator

from runners.public.modules import Bad, ModuleInputs, ModuleOutputs, Result, StepContext, StepError
from valkyr_plugins.connectors.data.bounds import MAX_ROWS, PureModule
from valkyr_plugins.connectors.data.rows import (
    ARITHMETIC,
    FIELD_WORDS,
    FieldName,
    as_json,
    getter,
    identity,
    kind,
    number_of,
    require_rows,
    sort_key,
)

# Calculations over the values of a group: counts, sums, averages, extremes, first and last, lists.


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
        # Return a number if all values are numbers, including texts such as a CSV's "9" and "10".
        if number is not None and all(number_of(other) is not None for other in values):
            return as_json(number)
        return value

    return found


# Each function gets the values that are not null, and the field's name for its messages.
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


class Calculated(ModuleInputs):
    """One calculated number, value or list of a group."""

    function: Function = Field(
        description=(
            "count, distinct (the number of different values), sum, avg, min, max, first, last, "
            "collect (a list of all values)."
        )
    )
    field: FieldName | None = Field(
        None,
        description=(
            f"The values: {FIELD_WORDS}. Null and empty text do not count. Default: the rows."
        ),
    )

    @model_validator(mode="after")
    def _has_a_field(self) -> "Calculated":
        if self.field is None and self.function in ("sum", "avg", "min", "max"):
            raise ValueError(f"{self.function} needs a field")
        return self


class AggregateInputs(ModuleInputs):
    """The fields to group by, and the values to calculate."""

    rows: list[Any] = Field(
        description=f"The rows, at most {MAX_ROWS:,}.", examples=["{{ tasks.read.output.rows }}"]
    )
    group_by: FieldName | list[FieldName] | dict[str, FieldName] = Field(
        default_factory=list,
        description=(
            "Fields to group by; an object gives these fields new names in the output. By "
            "default, all rows are one group."
        ),
        examples=[["country"], {"country": "customer.address.country"}],
    )
    compute: dict[str, Calculated] = Field(
        min_length=1,
        max_length=100,
        description="The aggregates of each group, by name.",
        examples=[
            {
                "orders": {"function": "count"},
                "total": {"function": "sum", "field": "total"},
            }
        ],
    )

    @model_validator(mode="after")
    def _names_differ(self) -> "AggregateInputs":
        if both := sorted(self.groups().keys() & self.compute.keys()):
            raise ValueError(f"{', '.join(both)} is in groupBy and in compute: rename one of them")
        return self

    def groups(self) -> dict[str, str]:
        """Return the fields to group by, keyed by their names in the output."""
        if isinstance(self.group_by, dict):
            return self.group_by
        fields = [self.group_by] if isinstance(self.group_by, str) else self.group_by
        return {field: field for field in fields}


class AggregateOutputs(ModuleOutputs):
    """The aggregated rows."""

    groups: list[dict[str, Any]] = Field(
        description=(
            "One object per group, with its fields and aggregates, in the order in which groups "
            "first appear; without grouping, exactly one group, even if there are no rows."
        )
    )
    count: int = Field(description="The number of groups.")


class Aggregate(PureModule):
    """Groups rows by fields and computes counts, sums, averages, minimums, maximums and lists.

    Sums and averages accept numbers and numeric texts (as in CSV files), and ignore null and empty
    text; any other value fails the step. `min` and `max` compare values as numbers if all are
    numeric, otherwise as texts; a mix of JSON numbers and non-numeric texts fails the step. Sums
    are calculated with 60 significant digits; a result that is not a whole number is rounded to
    about 16. To combine the results of batches, add up their sums and counts with `sum`.
    """

    type = "data.aggregate"
    title = "Aggregate"
    Inputs = AggregateInputs
    Outputs = AggregateOutputs
    example = {
        "rows": "{{ tasks.read.output.rows }}",
        "groupBy": ["country"],
        "compute": {
            "orders": {"function": "count"},
            "total": {"function": "sum", "field": "total"},
        },
    }
    bad_inputs = (
        Bad(
            "a text in a sum",
            {"rows": [{"a": "x"}], "compute": {"s": {"function": "sum", "field": "a"}}},
            "a is a text in some row, not a number",
        ),
        Bad(
            "a number that is not finite",
            {"rows": [{"a": "NaN"}], "compute": {"s": {"function": "sum", "field": "a"}}},
            "a is a text in some row, not a number",
        ),
        Bad(
            "a sum without a field",
            {"rows": [], "compute": {"s": {"function": "sum"}}},
            "sum needs a field",
        ),
        Bad(
            "a duplicate name",
            {"rows": [], "groupBy": "a", "compute": {"a": {"function": "count"}}},
            "a is in groupBy and in compute",
        ),
        Bad(
            "the minimum of numbers and texts",
            {"rows": [{"a": 1}, {"a": "x"}], "compute": {"m": {"function": "min", "field": "a"}}},
            "a is a number in some row and text in another",
        ),
        Bad(
            "too many rows",
            {"rows": [1] * 100_001, "compute": {"n": {"function": "count"}}},
            "at most 100,000 are accepted",
        ),
    )

    def execute(self, inputs: AggregateInputs, ctx: StepContext) -> Result:
        grouped = _grouped(require_rows(inputs.rows), inputs.groups())
        groups = [{**named, **_calculated(rows, inputs.compute)} for named, rows in grouped]
        return Result({"groups": groups, "count": len(groups)})


def _grouped(rows: list[Any], by: dict[str, str]) -> list[tuple[dict[str, Any], list[Any]]]:
    """Return each group's fields and rows; without fields to group by, one group with all rows."""
    if not by:
        return [({}, rows)]
    getters = [(name, getter(field)) for name, field in by.items()]
    groups: dict[Any, tuple[dict[str, Any], list[Any]]] = {}
    for row in rows:
        named = {name: get(row) for name, get in getters}
        key = tuple(map(identity, named.values()))
        groups.setdefault(key, (named, []))[1].append(row)
    return list(groups.values())


def _calculated(rows: list[Any], compute: dict[str, Calculated]) -> dict[str, Any]:
    return {name: _one(rows, wanted) for name, wanted in compute.items()}


def _one(rows: list[Any], wanted: Calculated) -> Any:
    calculation = CALCULATIONS[wanted.function]
    if wanted.field is None:
        return calculation(rows, "the row")
    get = getter(wanted.field)
    values = [value for value in map(get, rows) if value is not None and value != ""]
    return calculation(values, wanted.field)
