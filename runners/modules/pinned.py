"""Stands in for a task whose result a test run is given: nothing is called, nothing is rendered.

A value that holds `{{` or `{%` comes as JSON text in which they are escaped, so that no template
is found in it (`executions.definition.graph.trial.pins` writes it).
"""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import Field, field_validator

from executions.definition.catalog import ConfigProblem
from executions.definition.outcome_rules import OutcomeRule
from runners.modules.base import Bad, ModuleInputs, Result, StepContext, StepError
from runners.modules.flow import MAX_OUTCOME_LENGTH, FlowModule

SUCCESS = "success"
ERROR = "error"


class PinnedInputs(ModuleInputs):
    """What the task is to have given."""

    output: Any = Field(None, description="The output.", examples=[{"total": 1200}])
    json_text: str | None = Field(
        None,
        alias="json",
        description="The output as JSON text, in place of `output`: nothing in it is rendered.",
        examples=['{"text": "\\u007b{ as it stands }}"}'],
    )
    outcome: str = Field(
        SUCCESS,
        min_length=1,
        max_length=MAX_OUTCOME_LENGTH,
        description="The outcome; `error` fails for good, so that an edge on `error` is taken.",
        examples=["true"],
    )
    outcomes: list[str] = Field(
        default_factory=list,
        description="The outcomes that edges may name, where there are others than `success`.",
        examples=[["true", "false"]],
    )

    @field_validator("json_text")
    @classmethod
    def _is_json(cls, text: str | None) -> str | None:
        if text is not None:
            try:
                json.loads(text)
            except (ValueError, RecursionError) as error:
                raise ValueError(f"expected JSON text, but it cannot be read: {error}") from None
        return text

    @property
    def value(self) -> Any:
        """The output, from whichever of the two holds it."""
        return self.output if self.json_text is None else json.loads(self.json_text)


class Pinned(FlowModule):
    """Gives a fixed output and outcome: a test run puts it in place of a task with a pinned result.

    In `json` nothing is rendered, whatever it holds.
    """

    type = "flow.pinned"
    title = "Pinned result"
    Inputs = PinnedInputs
    outcomes_from = (OutcomeRule("outcomes", "each"),)
    example = {"output": {"total": 1200}, "outcome": "true", "outcomes": ["true", "false"]}
    bad_inputs = (
        Bad("text that is no JSON", {"json": "{"}, "expected JSON text"),
        Bad("a pinned failure", {"output": "no stock", "outcome": "error"}, "no stock"),
        Bad("an outcome without a name", {"outcome": ""}, "outcome"),
    )

    def more_problems(self, config: Mapping[str, Any]) -> list[ConfigProblem]:
        outcome, named = config.get("outcome", SUCCESS), config.get("outcomes") or [SUCCESS]
        if "{{" in str(named) or "{{" in str(outcome):
            message = "outcomes are names that edges lead from, so they must be written out"
            return [ConfigProblem(("outcome",), "template_not_allowed", message)]
        if outcome in (*named, ERROR):
            return []
        known = ", ".join(f'"{one}"' for one in named)
        message = f'"outcomes" does not name the outcome "{outcome}", only {known}'
        return [ConfigProblem(("outcome",), "unknown_outcome", message)]

    def execute(self, inputs: PinnedInputs, ctx: StepContext) -> Result:
        value = inputs.value
        if inputs.outcome == ERROR:
            raise StepError(_message(value), details={"pinned": True})
        return Result(value, inputs.outcome)


def _message(value: Any) -> str:
    """What a pinned failure says: its text, its `message`, or that it was pinned."""
    said = value.get("message") if isinstance(value, Mapping) else value
    return said if isinstance(said, str) and said else "pinned: this task is to have failed"
