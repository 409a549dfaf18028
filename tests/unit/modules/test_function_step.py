"""A typed function becomes a module; its annotations say what goes in and comes out."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Annotated

import pytest
from pydantic import BaseModel, Field, ValidationError

from runners.modules.base import Result, StepContext
from runners.modules.function_step import MODULE_ATTRIBUTE, step
from runners.modules.registry import spec


def module_of(function):
    return getattr(function, MODULE_ATTRIBUTE)


@dataclass
class Quote:
    total: Decimal
    until: date


@step("acme.quote", queue="io", timeout_seconds=5)
def quote(
    order_id: Annotated[int, Field(description="Which order.", ge=1)], express: bool = False
) -> Quote:
    """Prices an order."""
    return Quote(Decimal(order_id) / 2 + express, date(2026, 1, 2))


def test_a_function_describes_itself():
    described = spec(module_of(quote))

    assert (described.type, described.title, described.queue) == ("acme.quote", "Quote", "io")
    assert described.description == "Prices an order."
    assert described.timeout_seconds == 5
    assert described.inputs_schema["required"] == ["orderId"]
    assert described.inputs_schema["properties"]["orderId"]["description"] == "Which order."
    assert set(described.outputs_schema["$defs"]["Quote"]["properties"]) == {"total", "until"}


def test_its_inputs_are_checked_and_its_outputs_are_json(step_context):
    module = module_of(quote)

    assert module.run({"orderId": 3, "express": True}, step_context) == Result(
        {"total": "2.5", "until": "2026-01-02"}
    )
    with pytest.raises(ValidationError, match="orderId"):
        module.run({"orderId": 0}, step_context)


def test_it_is_still_a_plain_function():
    assert quote(2).total == 1


def test_it_may_ask_for_the_context(step_context):
    @step("acme.attempt")
    def attempt(ctx: StepContext, prefix: str = "n") -> str:
        return f"{prefix}{ctx.attempt}"

    module = module_of(attempt)

    assert module.run({}, step_context) == Result("n1")
    assert set(spec(module).inputs_schema["properties"]) == {"prefix"}


def test_it_may_yield_models_lists_or_nothing(step_context):
    class Answer(BaseModel):
        n: int

    @step("acme.model")
    def model() -> Answer:
        return Answer(n=1)

    @step("acme.list")
    def many() -> list[Answer]:
        return [Answer(n=1), Answer(n=2)]

    @step("acme.nothing")
    def nothing() -> None:
        return None

    assert module_of(model).run({}, step_context) == Result({"n": 1})
    assert module_of(many).run({}, step_context) == Result([{"n": 1}, {"n": 2}])
    assert module_of(nothing).run({}, step_context) == Result(None)


def test_a_value_that_is_not_what_was_promised_is_refused(step_context):
    @step("acme.liar")
    def liar() -> int:
        return "many"

    with pytest.raises(ValidationError):
        module_of(liar).run({}, step_context)


def test_parameters_need_types_and_names():
    with pytest.raises(TypeError, match=r"acme\.bad: parameter 'a' needs a type annotation"):

        @step("acme.bad")
        def untyped(a):
            return a

    with pytest.raises(TypeError, match=r"acme\.bad: parameter \*more"):

        @step("acme.bad")
        def variadic(*more: int):
            return more
