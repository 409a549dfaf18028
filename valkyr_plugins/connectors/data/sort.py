"""`data.sort`: rows in order."""

from typing import Any, Literal

from pydantic import Field

from runners.public.modules import Bad, ModuleInputs, ModuleOutputs, Result, StepContext
from valkyr_plugins.connectors.data.bounds import MAX_ROWS
from valkyr_plugins.connectors.data.fields import FIELD_WORDS, FieldName, getter, require_rows
from valkyr_plugins.connectors.data.ordering import As, sort_key
from valkyr_plugins.connectors.data.pure import PureModule


class SortBy(ModuleInputs):
    """One field to sort by."""

    field: FieldName = Field(description=f"The field: {FIELD_WORDS}.")
    order: Literal["ascending", "descending"] = Field("ascending", description="Which comes first.")
    as_: As = Field(
        "auto",
        alias="as",
        description="auto: as numbers where every value is a number or a text that is one (as in a "
        "CSV), else as texts. number, text: so and in no other way.",
    )


class SortInputs(ModuleInputs):
    """What to sort, and how."""

    rows: list[Any] = Field(
        description=f"At most {MAX_ROWS:,}.", examples=["{{ tasks.totals.output.groups }}"]
    )
    by: list[FieldName | SortBy] = Field(
        min_length=1,
        max_length=20,
        description="Fields, the first one first; each a name, or an object with the order.",
        examples=[[{"field": "total", "order": "descending"}, "country"]],
    )
    limit: int | None = Field(None, ge=1, description="Keep so many, the first ones.")


class SortOutputs(ModuleOutputs):
    """What was sorted."""

    rows: list[Any] = Field(description="The rows in order.")
    count: int = Field(description="How many.")


class Sort(PureModule):
    """Sorts rows by fields, numbers as numbers also where they are texts.

    Rows without a value come last, whichever the order; rows that are equal keep their order.
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
        Bad("a field that is none", {"rows": [], "by": ["a["]}, "not a JMESPath expression"),
        Bad("too many rows", {"rows": [1] * 100_001, "by": ["a"]}, "at most 100,000 are taken"),
        Bad(
            "numbers and texts in one field",
            {"rows": [{"a": 1}, {"a": "x"}], "by": ["a"]},
            "a is a number in some row and a text in another",
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
        # From the last field to the first: sorting is stable, so the first one decides.
        for by in reversed(inputs.by):
            rows = _sorted(rows, SortBy(field=by) if isinstance(by, str) else by)
        rows = rows[: inputs.limit]
        return Result({"rows": rows, "count": len(rows)})


def _sorted(rows: list[Any], by: SortBy) -> list[Any]:
    get = getter(by.field)
    valued = [(get(row), row) for row in rows]
    given = [(value, row) for value, row in valued if value is not None]
    key = sort_key([value for value, _ in given], by.as_, by.field)
    # `reverse` keeps the order of equal ones, too.
    given.sort(key=lambda pair: key(pair[0]), reverse=by.order == "descending")
    return [row for _, row in given] + [row for value, row in valued if value is None]
