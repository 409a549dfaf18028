"""Control modules that decide, fail or set variables. They are pure, so they run inline."""

import json
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator

from executions.definition.catalog import ConfigProblem, OutcomeRule, outcome_text
from runners.modules.base import Bad, Module, ModuleInputs, Result, StepContext, StepError
from runners.modules.stored_content import PassedOn
from runners.states import ErrorType

FALSE_WORDS = frozenset({"", "false", "0", "no", "off", "null", "none"})
MAX_OUTCOME_LENGTH = 100


class FlowModule(Module[Any]):
    """The base class of the inline control modules."""

    category: ClassVar[str] = "control"
    inline: ClassVar[bool] = True
    retry: ClassVar[str] = "none"
    timeout_seconds: ClassVar[float] = 10.0


class NoopInputs(ModuleInputs):
    """The value to pass on."""

    value: PassedOn = Field(None, description="The step's output.", examples=[{"n": 1}])


class Noop(FlowModule):
    """Does nothing and returns `value`. Use it to join branches or to start them."""

    type = "flow.noop"
    title = "No operation"
    Inputs = NoopInputs

    def execute(self, inputs: NoopInputs, ctx: StepContext) -> Result:
        return Result(inputs.value)


class IfInputs(ModuleInputs):
    """The condition that selects the branch."""

    condition: Any = Field(
        description=(
            "The value that decides the outcome. The values false, null, 0, an empty list or "
            "object, and the texts '', 'false', '0', 'no', 'off', 'null' and 'none' (also in upper "
            "case, or with spaces around them) count as false. All other values count as true."
        ),
        examples=["{{ tasks.fetch.output.body.total > 1000 }}"],
    )


def truth(value: Any) -> bool:
    """Return whether a condition holds; text that spells a false value (`FALSE_WORDS`) is false."""
    if isinstance(value, str):
        return value.strip().lower() not in FALSE_WORDS
    return bool(value)


class If(FlowModule):
    """Chooses the outcome `true` or `false`, depending on a condition."""

    type = "flow.if"
    title = "If"
    Inputs = IfInputs
    outcomes = ("true", "false")
    example = {"condition": "{{ tasks.fetch.output.body.total > 1000 }}"}
    bad_inputs = (Bad("no condition", {}, "condition"),)

    def execute(self, inputs: IfInputs, ctx: StepContext) -> Result:
        holds = truth(inputs.condition)
        return Result({"result": holds}, "true" if holds else "false")


Scalar = str | bool | int | float | None


class SwitchInputs(ModuleInputs):
    """The value, and the cases with which to compare it."""

    value: Scalar = Field(
        description="The value that is compared, as text, with each case.",
        examples=["{{ tasks.fetch.output.body.country }}"],
    )
    cases: list[Scalar] | dict[str, str] = Field(
        description=(
            "A list of values, which are also the outcomes; or a mapping from values to outcomes, "
            "in which several values may have the same outcome. Values are compared as text: 1, "
            "1.0 and '1' are the same, true is 'true' and null is 'null'. This input cannot be a "
            "template."
        ),
        examples=[["DE", "FR"], {"DE": "domestic", "FR": "eu", "IT": "eu"}],
    )
    default: str = Field(
        "default",
        description="The outcome if no case matches. This input cannot be a template.",
        examples=["default"],
    )

    @field_validator("cases")
    @classmethod
    def _cases_are_outcomes(
        cls, cases: list[Scalar] | dict[str, str]
    ) -> list[Scalar] | dict[str, str]:
        for name in _outcome_by_case(cases).values():
            _require_outcome_name(name)
        return cases

    @field_validator("default")
    @classmethod
    def _default_is_outcome(cls, default: str) -> str:
        return _require_outcome_name(default)


def _require_outcome_name(name: str) -> str:
    if not 0 < len(name) <= MAX_OUTCOME_LENGTH or name == "error":
        raise ValueError(
            f"an outcome is text of 1 to {MAX_OUTCOME_LENGTH} characters, other than 'error' "
            "(which marks a failed task)"
        )
    return name


def _outcome_by_case(cases: list[Scalar] | dict[str, str]) -> dict[str, str]:
    if isinstance(cases, dict):
        return cases
    return {text: text for text in map(outcome_text, cases)}


class Switch(FlowModule):
    """Chooses the outcome of the case that equals `value`, otherwise `default`."""

    type = "flow.switch"
    title = "Switch"
    Inputs = SwitchInputs
    outcomes = ("default",)
    outcomes_from = (
        OutcomeRule("cases", "each"),
        OutcomeRule("default", "value", otherwise="default"),
    )
    example = {"value": "{{ tasks.fetch.output.body.country }}", "cases": ["DE", "FR"]}
    bad_inputs = (
        Bad("an object to compare", {"value": {"a": 1}, "cases": ["a"]}, "value"),
        Bad("an outcome named error", {"value": 1, "cases": ["error"]}, "other than 'error'"),
        Bad("a case without a name", {"value": 1, "cases": [""]}, "1 to"),
    )

    def more_problems(self, config: Mapping[str, Any]) -> list[ConfigProblem]:
        return [
            ConfigProblem(
                (key,),
                "template_not_allowed",
                f"{key!r} names the outcomes of edges, so it must be literal: use templates "
                "only in 'value'",
            )
            for key in ("cases", "default")
            if "{{" in str(config.get(key, ""))
        ]

    def execute(self, inputs: SwitchInputs, ctx: StepContext) -> Result:
        text = outcome_text(inputs.value)
        outcome = _outcome_by_case(inputs.cases).get(text, inputs.default)
        return Result({"value": inputs.value, "outcome": outcome}, outcome)


class FailInputs(ModuleInputs):
    """The error with which the step fails."""

    message: str = Field(
        description="The reason for the failure, in words.",
        examples=["order {{ input.id }} is empty"],
    )
    error_type: Literal["PERMANENT", "TRANSIENT", "TIMEOUT"] = Field(
        "PERMANENT",
        description="The type of the failure. The retry policy applies to TRANSIENT and TIMEOUT.",
    )
    details: Any = Field(
        None, description="Data to store with the failure.", examples=[{"code": 17}]
    )


class Fail(FlowModule):
    """Fails with a message that you choose."""

    type = "flow.fail"
    title = "Fail"
    retry = "standard"
    Inputs = FailInputs
    example = {"message": "order {{ input.id }} is empty", "details": {"code": 17}}
    bad_inputs = (
        Bad("the failure itself", {"message": "the order is empty"}, "the order is empty"),
        Bad(
            "a failure that is retried",
            {"message": "not yet", "errorType": "TRANSIENT"},
            "not yet",
            ErrorType.TRANSIENT,
        ),
        Bad("an unknown class", {"message": "m", "errorType": "FATAL"}, "errorType"),
    )

    def execute(self, inputs: FailInputs, ctx: StepContext) -> Result:
        raise StepError(inputs.message, ErrorType(inputs.error_type), details=inputs.details)


class SetVariablesInputs(ModuleInputs):
    """The variables to set."""

    values: dict[str, PassedOn] = Field(
        description="The new values of declared variables, by name.",
        examples=[{"carrier": "{{ tasks.quote.output.body.carrier }}"}],
    )


class SetVariables(FlowModule):
    """Sets declared variables of the execution, if the step succeeds."""

    type = "flow.set_variables"
    title = "Set variables"
    Inputs = SetVariablesInputs
    writes_variables = True
    example = {"values": {"carrier": "{{ tasks.quote.output.body.carrier }}"}}
    bad_inputs = (
        Bad("an undeclared variable", {"values": {"carier": "DHL"}}, "no variable named carier"),
        Bad("a list of values", {"values": ["DHL"]}, "values"),
    )

    def execute(self, inputs: SetVariablesInputs, ctx: StepContext) -> Result:
        undeclared = inputs.values.keys() - ctx.variables.keys()
        if undeclared:
            raise StepError(
                f"the workflow declares no variable named {', '.join(sorted(undeclared))}; "
                f"it declares: {', '.join(sorted(ctx.variables)) or 'none'}. "
                "Add the name under `variables:` of the definition"
            )
        return Result(inputs.values, variables=inputs.values)


# A module that replaces a task whose result is pinned in a test run: no module is called, and no
# template is rendered.
#
# A value that contains `{{` or `{%` arrives as JSON text in which they are escaped, so that no
# template is found in it (`executions.definition.graph.trial.request` writes it).


SUCCESS = "success"
ERROR = "error"


class PinnedInputs(ModuleInputs):
    """The pinned result: an output and an outcome."""

    output: Any = Field(None, description="The output.", examples=[{"total": 1200}])
    json_text: str | None = Field(
        None,
        alias="json",
        description="The output as JSON text, instead of `output`. To keep `{{` as text, write "
        "`\\u007b{`.",
        examples=['{"text": "\\u007b{ not a template }}"}'],
    )
    outcome: str = Field(
        SUCCESS,
        min_length=1,
        max_length=MAX_OUTCOME_LENGTH,
        description="The outcome; with `error`, the step fails permanently and can take its "
        "`error` edge.",
        examples=["true"],
    )
    outcomes: list[str] = Field(
        default_factory=list,
        description="All outcomes that edges can name, if `success` is not the only one.",
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
        """Return the output that `json` contains, or `output` if `json` is not given."""
        return self.output if self.json_text is None else json.loads(self.json_text)


class Pinned(FlowModule):
    """Returns a fixed output and outcome; with the outcome `error`, the step fails.

    In a test run, this module replaces the module of each task that has a pinned result.
    """

    type = "flow.pinned"
    title = "Pinned result"
    Inputs = PinnedInputs
    outcomes_from = (OutcomeRule("outcomes", "each"),)
    example = {"output": {"total": 1200}, "outcome": "true", "outcomes": ["true", "false"]}
    bad_inputs = (
        Bad("text that is not valid JSON", {"json": "{"}, "expected JSON text"),
        Bad("a pinned failure", {"output": "no stock", "outcome": "error"}, "no stock"),
        Bad("an outcome without a name", {"outcome": ""}, "outcome"),
    )

    def more_problems(self, config: Mapping[str, Any]) -> list[ConfigProblem]:
        outcome, named = config.get("outcome", SUCCESS), config.get("outcomes") or [SUCCESS]
        if "{{" in str(named) or "{{" in str(outcome):
            message = "outcomes are named by edges, so they must be literal"
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
    """Return the message of a pinned failure: the text, the object's `message`, or a default."""
    said = value.get("message") if isinstance(value, Mapping) else value
    return (
        said
        if isinstance(said, str) and said
        else ("pinned: the task's pinned outcome is a failure")
    )
