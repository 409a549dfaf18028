"""`data.set` returns values for later steps; `data.template` renders text."""

import json
from typing import Any

from pydantic import Field

from runners.public.modules import Bad, ModuleInputs, ModuleOutputs, Result, StepContext, StepError
from valkyr_plugins.connectors.data.bounds import PureModule, checked_text


class SetInputs(ModuleInputs):
    """The values to return."""

    values: dict[str, Any] = Field(
        description="The step's output.",
        examples=[{"amount": "{{ tasks.fetch.output.body.total }}"}],
    )


class Set(PureModule):
    """Returns the given values, for later steps to read."""

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


class TemplateInputs(ModuleInputs):
    """The text to render."""

    text: Any = Field(
        description=(
            "Text with {{ expressions }}. If it is a single expression that does not yield "
            "text, its value is written as JSON."
        ),
        examples=["Dear {{ input.name }},\nyour order {{ input.orderId }} is on its way."],
    )


class TemplateOutputs(ModuleOutputs):
    """The rendered text."""

    text: str = Field(description="The rendered text.")


class TextTemplate(PureModule):
    """Renders a template with values to produce text for an email, a file or a request."""

    type = "data.template"
    title = "Text template"
    Inputs = TemplateInputs
    Outputs = TemplateOutputs
    example = {"text": "Dear {{ input.name }},\nyour order {{ input.orderId }} is on its way."}
    bad_inputs = (
        Bad("no text", {}, "text: Field required"),
        Bad("a text of 6 MiB", lambda: {"text": "x" * 6_291_456}, "at most 5,242,880 are accepted"),
        Bad("a lone surrogate", {"text": "Dear \ud800"}, "lone surrogate (U+D800)"),
        Bad("a number that JSON cannot express", {"text": float("nan")}, "not JSON"),
    )

    def execute(self, inputs: TemplateInputs, ctx: StepContext) -> Result:
        text = inputs.text if isinstance(inputs.text, str) else _as_json(inputs.text)
        return Result({"text": checked_text(text, "the text")})


def _as_json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise StepError(f"the value is not JSON: {error}") from error
