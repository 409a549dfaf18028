"""`data.jmespath`: selects, filters and reshapes."""

from typing import Any

from pydantic import Field, field_validator

from runners.public.modules import Bad, ModuleInputs, ModuleOutputs, Result, StepContext
from valkyr_plugins.connectors.data.expressions import compiled
from valkyr_plugins.connectors.data.pure import PureModule

# It makes a value of a billion parts, in forty steps.
DOUBLED = "|".join(["[@,@]"] * 40)


class JmespathInputs(ModuleInputs):
    """What to select from what."""

    expression: str = Field(
        description="A JMESPath expression (jmespath.org).", examples=["orders[?total > `100`].id"]
    )
    data: Any = Field(description="What it is applied to.", examples=["{{ previous.body }}"])

    @field_validator("expression")
    @classmethod
    def _expression_parses(cls, expression: str) -> str:
        compiled(expression)
        return expression


class JmespathOutputs(ModuleOutputs):
    """What was selected."""

    result: Any = Field(description="What the expression selects; null where nothing fits.")


class Jmespath(PureModule):
    """Selects, filters and reshapes data by a JMESPath expression.

    What it makes is bounded to 5 MiB of JSON, however the expression multiplies it.
    """

    type = "data.jmespath"
    title = "JMESPath"
    Inputs = JmespathInputs
    Outputs = JmespathOutputs
    example = {
        "expression": "[?total > `100`].{id: id, total: total}",
        "data": "{{ tasks.fetch.output.body.orders }}",
    }
    bad_inputs = (
        Bad(
            "an expression that breaks off",
            {"expression": "orders[?total >", "data": {}},
            "not a JMESPath expression",
        ),
        Bad(
            "a function that does not take this data",
            {"expression": "length(@)", "data": 3},
            "'length(@)' does not fit the data",
        ),
        Bad(
            "an expression that doubles the data thirty times",
            {"expression": "|".join(["[@,@][]"] * 30), "data": [1]},
            "makes more than",
        ),
        Bad(
            "one that does so without a longer list",
            {"expression": DOUBLED, "data": "x"},
            "makes more than",
        ),
        Bad(
            "two such values that are compared",
            {"expression": f"({DOUBLED}) == ({DOUBLED})", "data": "x"},
            "makes more than",
        ),
        Bad(
            "such a value that is looked for",
            {"expression": f"contains([{DOUBLED}], {DOUBLED})", "data": "x"},
            "makes more than",
        ),
        Bad(
            "a text joined with itself into terabytes",
            lambda: {"expression": "join(@[0], @)", "data": ["x" * 1_000_000] * 4},
            "makes more than",
        ),
        Bad(
            "an expression that nests 4,000 deep",
            {"expression": "(" * 4_000 + "a" + ")" * 4_000, "data": {}},
            "nests too deep",
        ),
    )

    def execute(self, inputs: JmespathInputs, ctx: StepContext) -> Result:
        return Result({"result": compiled(inputs.expression)(inputs.data)})
