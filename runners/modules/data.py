"""Modules that shape values in memory; pure, so they run inline."""

import json
from typing import Any, ClassVar

import jmespath
import jmespath.exceptions
from pydantic import Field, field_validator

from runners.modules.base import Module, ModuleInputs, ModuleOutputs, Result, StepContext, StepError


class DataModule(Module[Any]):
    """What the modules of this family have in common."""

    category: ClassVar[str] = "data"
    inline: ClassVar[bool] = True
    retry: ClassVar[str] = "none"
    timeout_seconds: ClassVar[float] = 10.0


class SetInputs(ModuleInputs):
    """What to yield."""

    values: dict[str, Any] = Field(
        description="Becomes the step's output as it is.",
        examples=[{"amount": "{{ tasks.fetch.output.body.total }}"}],
    )


class Set(DataModule):
    """Yields the given values, for later steps to read."""

    type = "data.set"
    title = "Set values"
    Inputs = SetInputs

    def execute(self, inputs: SetInputs, ctx: StepContext) -> Result:
        return Result(inputs.values)


class JmespathInputs(ModuleInputs):
    """What to select from what."""

    expression: str = Field(
        description="A JMESPath expression (jmespath.org).", examples=["orders[?total > `100`].id"]
    )
    data: Any = Field(description="What it is applied to.", examples=["{{ previous.body }}"])

    @field_validator("expression")
    @classmethod
    def _expression_parses(cls, expression: str) -> str:
        try:
            jmespath.compile(expression)
        except jmespath.exceptions.JMESPathError as error:
            raise ValueError(f"not a JMESPath expression: {error}") from error
        return expression


class JmespathOutputs(ModuleOutputs):
    """What was selected."""

    result: Any = Field(description="What the expression selects; null where nothing fits.")


class Jmespath(DataModule):
    """Selects and reshapes data by a JMESPath expression."""

    type = "data.jmespath"
    title = "JMESPath"
    Inputs = JmespathInputs
    Outputs = JmespathOutputs

    def execute(self, inputs: JmespathInputs, ctx: StepContext) -> Result:
        try:
            # jmespath keeps the compiled expression, so this parses no second time.
            return Result({"result": jmespath.search(inputs.expression, inputs.data)})
        except jmespath.exceptions.JMESPathError as error:
            raise StepError(
                f"JMESPath expression {inputs.expression!r} does not fit the data: {error}"
            ) from error


class TemplateInputs(ModuleInputs):
    """What to write."""

    text: Any = Field(
        description=(
            "Text with {{ expressions }}. Where it is a single expression that yields no text, "
            "its value is written as JSON."
        ),
        examples=["Dear {{ input.name }},\nyour order {{ input.orderId }} is on its way."],
    )


class TemplateOutputs(ModuleOutputs):
    """What was written."""

    text: str = Field(description="The text, rendered.")


class Template(DataModule):
    """Writes a text from values, for a mail, a file or a request."""

    type = "data.template"
    title = "Text template"
    Inputs = TemplateInputs
    Outputs = TemplateOutputs

    def execute(self, inputs: TemplateInputs, ctx: StepContext) -> Result:
        text = inputs.text
        return Result(
            {"text": text if isinstance(text, str) else json.dumps(text, ensure_ascii=False)}
        )
