"""`data.deduplicate`: of rows that are the same by some fields, one stays."""

from typing import Any, Literal

from pydantic import Field

from runners.public.modules import Bad, ModuleInputs, ModuleOutputs, Result, StepContext
from valkyr_plugins.connectors.data.bounds import MAX_ROWS
from valkyr_plugins.connectors.data.fields import FIELD_WORDS, FieldName, getter, require_rows
from valkyr_plugins.connectors.data.identity import identity
from valkyr_plugins.connectors.data.pure import PureModule


class DeduplicateInputs(ModuleInputs):
    """Which rows are the same, and which of them stays."""

    rows: list[Any] = Field(
        description=f"At most {MAX_ROWS:,}.", examples=["{{ tasks.read.output.rows }}"]
    )
    by: FieldName | list[FieldName] = Field(
        default_factory=list,
        description=f"The fields that make a row the same as another: {FIELD_WORDS}. Unless given, "
        "rows are the same when they are equal.",
        examples=[["email"]],
    )
    keep: Literal["first", "last"] = Field("first", description="Which of them stays.")
    ignore_case: bool = Field(False, description="Whether A and a are the same in texts.")


class DeduplicateOutputs(ModuleOutputs):
    """What is left."""

    rows: list[Any] = Field(description="The rows that stay, in their order.")
    count: int = Field(description="How many stay.")
    dropped: int = Field(description="How many were left out.")


class Deduplicate(PureModule):
    """Leaves out rows that others repeat, in their fields or altogether.

    1 and "1" are different; a missing field is the same as null.
    """

    type = "data.deduplicate"
    title = "Remove duplicates"
    Inputs = DeduplicateInputs
    Outputs = DeduplicateOutputs
    example = {"rows": "{{ tasks.read.output.rows }}", "by": ["email"], "keep": "last"}
    bad_inputs = (
        Bad("rows that are an object", {"rows": {"a": 1}}, "rows: Input should be a valid list"),
        Bad("a field that is none", {"rows": [], "by": ["a["]}, "not a JMESPath expression"),
        Bad("too many rows", {"rows": [1] * 100_001}, "at most 100,000 are taken at once"),
        Bad("an expression that does not fit", {"rows": [3], "by": "length(@)"}, "does not fit"),
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
