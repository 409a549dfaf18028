"""`data.set`: names values for later steps."""

from typing import Any

from pydantic import Field

from runners.public.modules import Bad, ModuleInputs, Result, StepContext
from valkyr_plugins.connectors.data.pure import PureModule


class SetInputs(ModuleInputs):
    """What to yield."""

    values: dict[str, Any] = Field(
        description="Becomes the step's output as it is.",
        examples=[{"amount": "{{ tasks.fetch.output.body.total }}"}],
    )


class Set(PureModule):
    """Yields the given values, for later steps to read."""

    type = "data.set"
    title = "Set values"
    Inputs = SetInputs
    example = {"values": {"amount": "{{ input.total }}", "currency": "EUR"}}
    bad_inputs = (
        Bad("values that are a text", {"values": "amount: 12"}, "values: Input should be a valid"),
        Bad("values that are a list", {"values": [1, 2]}, "values: Input should be a valid"),
        Bad("no values", {}, "values: Field required"),
    )

    def execute(self, inputs: SetInputs, ctx: StepContext) -> Result:
        return Result(inputs.values)
