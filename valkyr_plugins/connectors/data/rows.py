"""The modules `data.sort` and `data.deduplicate`, and functions that read and compare rows.

A step names a value of each row by a key, a dotted path, or any JMESPath expression.
"""

import json
import re
from collections.abc import Callable
from decimal import Context, Decimal
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from runners.public.modules import Bad, ModuleInputs, ModuleOutputs, Result, StepContext, StepError
from valkyr_plugins.connectors.data.bounds import MAX_ROWS, PureModule
from valkyr_plugins.connectors.data.jmespath_query import compiled

PATH = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*")
FIELD_WORDS = (
    "a key (`total`), a dotted path (`customer.country`), a JMESPath expression "
    '(`items[0].sku`), or a key that is not a word, in quotes (`"Order total"`)'
)

Getter = Callable[[Any], Any]


@lru_cache(maxsize=512)
def getter(field: str) -> Getter:
    """Return a function that reads a field of a row (None if it is missing). Raises ValueError.

    Keys and paths are read without JMESPath's slow engine. Other expressions can raise StepError.
    """
    if not PATH.fullmatch(field):
        return compiled(field)
    keys = field.split(".")
    if len(keys) == 1:
        return lambda row: row.get(field) if isinstance(row, dict) else None
    return lambda row: _below(row, keys)


def _below(row: Any, keys: list[str]) -> Any:
    for key in keys:
        row = row.get(key) if isinstance(row, dict) else None
    return row


def _checked(field: str) -> str:
    getter(field)
    return field


FieldName = Annotated[str, Field(max_length=500), AfterValidator(_checked)]


def require_rows(rows: list[Any]) -> list[Any]:
    """Return the rows. Raises StepError if there are too many for one step."""
    if len(rows) > MAX_ROWS:
        raise StepError(
            f"there are {len(rows):,} rows; at most {MAX_ROWS:,} are accepted at once: "
            "process them in batches, then combine the results"
        )
    return rows


# Values are equal if their JSON is equal: 1 and "1" differ, 1 and 1.0 do not.
_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode


def identity(value: Any) -> Any:
    """Return a hashable key for comparing values. Raises StepError if a value is not JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or value is None:
        return ("word", value)  # True is 1 in Python, but not in JSON
    if isinstance(value, int | float):
        return ("number", value)
    try:
        return ("json", _encode(_with_integers(value)))
    except (TypeError, ValueError, RecursionError) as error:
        raise StepError(f"a value is not JSON, so it cannot be compared: {error}") from error


def _with_integers(value: Any) -> Any:
    """Return a value with an integer in place of each whole float."""
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, dict):
        return {key: _with_integers(inner) for key, inner in value.items()}
    return [_with_integers(inner) for inner in value] if isinstance(value, list) else value


# Read numbers in rows: JSON numbers, or texts such as "12.50" in a CSV.
#
# Sums are decimal, so that 0.1 + 0.2 is 0.3 and a column of prices is exact to the cent.


# Up to 60 digits on each side, and an exponent of 3; no NaN, infinity or thousands separators.
NUMBER = re.compile(r"\s*[-+]?(?:\d{1,60}(?:\.\d{0,60})?|\.\d{1,60})(?:[eE][-+]?\d{1,3})?\s*")
ARITHMETIC = Context(prec=60)


def number_of(value: Any) -> Decimal | None:
    """Return the decimal value of a number or a numeric string, as written; otherwise None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return Decimal(value)
    if isinstance(value, float):
        # `repr` returns the number as written, not its binary expansion.
        text = repr(value)
        return Decimal(text) if NUMBER.fullmatch(text) else None
    if isinstance(value, str) and NUMBER.fullmatch(value):
        return Decimal(value.strip())
    return None


def as_json(number: Decimal) -> int | float:
    """Return a number for JSON; a whole number becomes an integer."""
    if number == number.to_integral_value():
        return int(number)
    return float(number)


# Order values: as numbers if all are numbers, otherwise as text. Null is last.


As = Literal["auto", "number", "text"]


def sort_key(values: list[Any], as_: As, field: str) -> Callable[[Any], Any]:
    """Return a function that computes a non-null value's sort key; it may raise StepError.

    With `auto`, values are compared as numbers if each is a number or a numeric string, otherwise
    as text.
    """
    if as_ == "auto":
        as_ = "number" if all(number_of(value) is not None for value in values) else "text"
    wanted = _number if as_ == "number" else _text
    return lambda value: wanted(value, field)


def _number(value: Any, field: str) -> Any:
    number = number_of(value)
    if number is None:
        raise StepError(f"{field} is {kind(value)} in some row, not a number")
    return number


def _text(value: Any, field: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        raise StepError(
            f"{field} is a number in some row and text in another, which cannot be ordered: "
            "convert them to one type first"
        )
    raise StepError(f"{field} is {kind(value)} in some row, which has no order")


def kind(value: Any) -> str:
    """Return the type of a value in words, such as `a text`, without the value itself."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, str):
        return "a text"
    if isinstance(value, dict):
        return "an object"
    return "a list" if isinstance(value, list) else "a number"


# `data.sort`: sort rows.


class SortBy(ModuleInputs):
    """One field to sort by."""

    field: FieldName = Field(description=f"The field: {FIELD_WORDS}.")
    order: Literal["ascending", "descending"] = Field("ascending", description="The order.")
    as_: As = Field(
        "auto",
        alias="as",
        description=(
            "auto: as numbers if every value is a number or text with a number (as in a CSV), "
            "otherwise as text. number, text: always as that type."
        ),
    )


class SortInputs(ModuleInputs):
    """The rows to sort, and the fields to sort by."""

    rows: list[Any] = Field(
        description=f"The rows, at most {MAX_ROWS:,}.",
        examples=["{{ tasks.totals.output.groups }}"],
    )
    by: list[FieldName | SortBy] = Field(
        min_length=1,
        max_length=20,
        description="The fields, most significant first; each is a name, or an object that also "
        "sets the order.",
        examples=[[{"field": "total", "order": "descending"}, "country"]],
    )
    limit: int | None = Field(
        None, ge=1, description="The maximum number of rows to keep, counted from the first."
    )


class SortOutputs(ModuleOutputs):
    """The sorted rows."""

    rows: list[Any] = Field(description="The sorted rows.")
    count: int = Field(description="The number of rows.")


class Sort(PureModule):
    """Sorts rows by fields; by default, a field with only numeric values is sorted as numbers.

    Rows in which the field is null or missing come last in either order; equal rows keep their
    order. An empty text, such as an empty cell of a CSV file, counts as text, not as null.
    """

    type = "data.sort"
    title = "Sort"
    Inputs = SortInputs
    Outputs = SortOutputs
    example = {
        "rows": "{{ tasks.totals.output.groups }}",
        "by": [{"field": "total", "order": "descending"}],
        "limit": 10,
    }
    bad_inputs = (
        Bad("rows that are a text", {"rows": "a", "by": ["a"]}, "rows: Input should be a valid"),
        Bad("nothing to sort by", {"rows": [], "by": []}, "by: List should have at least 1"),
        Bad("an invalid field", {"rows": [], "by": ["a["]}, "not a JMESPath expression"),
        Bad("too many rows", {"rows": [1] * 100_001, "by": ["a"]}, "at most 100,000 are accepted"),
        Bad(
            "numbers and texts in one field",
            {"rows": [{"a": 1}, {"a": "x"}], "by": ["a"]},
            "a is a number in some row and text in another",
        ),
        Bad(
            "a text that should be a number",
            {"rows": [{"a": "x"}], "by": [{"field": "a", "as": "number"}]},
            "a is a text in some row, not a number",
        ),
        Bad("objects in the field", {"rows": [{"a": {}}], "by": ["a"]}, "a is an object in some"),
    )

    def execute(self, inputs: SortInputs, ctx: StepContext) -> Result:
        rows = list(require_rows(inputs.rows))
        # Sort by the last field first. Sorting is stable, so the first field takes precedence.
        for by in reversed(inputs.by):
            rows = _sorted(rows, SortBy(field=by) if isinstance(by, str) else by)
        rows = rows[: inputs.limit]
        return Result({"rows": rows, "count": len(rows)})


def _sorted(rows: list[Any], by: SortBy) -> list[Any]:
    get = getter(by.field)
    valued = [(get(row), row) for row in rows]
    given = [(value, row) for value, row in valued if value is not None]
    key = sort_key([value for value, _ in given], by.as_, by.field)
    # `reverse` also keeps the order of equal rows.
    given.sort(key=lambda pair: key(pair[0]), reverse=by.order == "descending")
    return [row for _, row in given] + [row for value, row in valued if value is None]


# `data.deduplicate`: keep one of the rows that are equal by some fields.


class DeduplicateInputs(ModuleInputs):
    """The rows, the fields that make rows equal, and the choice of the row to keep."""

    rows: list[Any] = Field(
        description=f"The rows, at most {MAX_ROWS:,}.", examples=["{{ tasks.read.output.rows }}"]
    )
    by: FieldName | list[FieldName] = Field(
        default_factory=list,
        description=f"The fields by which rows are compared: {FIELD_WORDS}. By default, whole "
        "rows are compared.",
        examples=[["email"]],
    )
    keep: Literal["first", "last"] = Field(
        "first", description="Which of several equal rows to keep."
    )
    ignore_case: bool = Field(False, description="Whether to ignore case when comparing texts.")


class DeduplicateOutputs(ModuleOutputs):
    """The remaining rows."""

    rows: list[Any] = Field(description="The remaining rows, in their original order.")
    count: int = Field(description="The number of remaining rows.")
    dropped: int = Field(description="The number of rows that were removed.")


class Deduplicate(PureModule):
    """Removes duplicate rows; compares whole rows, or only the fields in `by`.

    1 and "1" are different. If a row lacks a field in `by`, the field counts as null.
    """

    type = "data.deduplicate"
    title = "Remove duplicates"
    Inputs = DeduplicateInputs
    Outputs = DeduplicateOutputs
    example = {"rows": "{{ tasks.read.output.rows }}", "by": ["email"], "keep": "last"}
    bad_inputs = (
        Bad("rows that are an object", {"rows": {"a": 1}}, "rows: Input should be a valid list"),
        Bad("an invalid field", {"rows": [], "by": ["a["]}, "not a JMESPath expression"),
        Bad("too many rows", {"rows": [1] * 100_001}, "at most 100,000 are accepted at once"),
        Bad(
            "an expression that does not fit the data",
            {"rows": [3], "by": "length(@)"},
            "does not fit",
        ),
    )

    def execute(self, inputs: DeduplicateInputs, ctx: StepContext) -> Result:
        rows = require_rows(inputs.rows)
        fields = [inputs.by] if isinstance(inputs.by, str) else inputs.by
        getters = [getter(field) for field in fields] or [lambda row: row]
        kept: dict[Any, int] = {}
        for place, row in enumerate(rows):
            key = tuple(_same(get(row), inputs.ignore_case) for get in getters)
            if inputs.keep == "last" or key not in kept:
                kept[key] = place
        stay = [rows[place] for place in sorted(kept.values())]
        dropped = len(rows) - len(stay)
        return Result({"rows": stay, "count": len(stay), "dropped": dropped})


def _same(value: Any, ignore_case: bool) -> Any:
    found = identity(value)
    if not ignore_case:
        return found
    if isinstance(found, str):
        return found.casefold()
    return (found[0], found[1].casefold()) if found[0] == "json" else found
