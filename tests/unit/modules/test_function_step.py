"""A typed function becomes a module; its annotations define its inputs and outputs."""

import asyncio
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field, ValidationError
from typing_extensions import TypedDict

from runners.modules import step_signature
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


class Totals(TypedDict):
    net: int
    gross: int


def test_a_typed_dict_describes_the_output_key_by_key(step_context):
    @step("acme.totals")
    def totals(net: Annotated[int, "Before tax, in cents."]) -> Totals:
        return {"net": net, "gross": net * 2}

    described = spec(module_of(totals))

    assert module_of(totals).run({"net": 2}, step_context) == Result({"net": 2, "gross": 4})
    assert set(described.outputs_schema["$defs"]["Totals"]["properties"]) == {"net", "gross"}
    assert described.inputs_schema["properties"]["net"]["description"] == "Before tax, in cents."


def test_an_async_function_is_awaited(step_context):
    @step("acme.slow", queue="io")
    async def slow(n: int) -> int:
        await asyncio.sleep(0)
        return n + 1

    assert module_of(slow).run({"n": 1}, step_context) == Result(2)


def test_a_step_with_outcomes_says_where_to_go_on(step_context):
    @step("acme.size", outcomes=("large", "small"), effect="none")
    def size(total: int) -> Literal["large", "small"]:
        return "large" if total > 100 else "small"

    @step("acme.grade", outcomes=("good", "bad"))
    def grade(points: int) -> tuple[Literal["good", "bad"], Totals]:
        return "good", Totals(net=points, gross=points)

    module = module_of(size)

    assert module.run({"total": 1}, step_context) == Result({"outcome": "small"}, outcome="small")
    assert spec(module).outcomes_for({}) == ("large", "small")
    assert module_of(grade).run({"points": 1}, step_context) == Result(
        {"net": 1, "gross": 1}, outcome="good"
    )
    assert spec(module_of(grade)).outputs_schema["$defs"]["Totals"]


def test_a_circuit_is_a_text_or_told_by_the_inputs():
    @step("acme.fixed", circuit="bank")
    def fixed() -> None: ...

    @step("acme.by_host", circuit=lambda given: f"shop:{given.host}", circuit_target="the host")
    def by_host(host: str) -> None: ...

    module = module_of(by_host)

    assert module_of(fixed).circuit(None) == "acme.fixed:bank"
    assert module_of(fixed).has_circuit()
    assert module.circuit(module.validated({"host": "a.example"})) == "shop:a.example"
    assert spec(module).circuit_target == "the host"
    assert not module_of(quote).has_circuit()


def test_a_step_can_say_that_it_computes():
    @step("acme.crunch", computes=True)
    def crunch(rows: int) -> int:
        return rows

    assert spec(module_of(crunch)).computes
    assert not spec(module_of(quote)).computes


def test_a_step_that_computes_is_refused_on_the_queue_of_threads():
    with pytest.raises(TypeError, match="computes and has the queue 'io'"):

        @step("acme.crunch", computes=True, queue="io")
        def crunch(rows: int) -> int:
            return rows


def test_what_a_run_costs_is_an_amount_or_worked_out(step_context):
    @step("acme.paid", costs=Decimal("0.01"))
    def paid() -> None: ...

    @step("acme.by_size", costs=lambda given, returned: Decimal(len(returned)) * given.price)
    def by_size(price: Decimal) -> str:
        return "four"

    module_of(paid).run({}, step_context)
    module_of(by_size).run({"price": "0.5"}, step_context)

    (spent,) = step_context.costs.values()
    assert spent.amount == Decimal("2.01")


def test_budgets_are_checked_before_a_function_that_declares_costs():
    @step("acme.charged", costs=Decimal("0.01"))
    def charged() -> None: ...

    @step("acme.free")
    def free() -> None: ...

    assert (module_of(charged).costs_with({}), module_of(free).costs_with({})) == (True, False)
    with pytest.raises(TypeError, match="reports costs and is inline"):

        @step("acme.charged_inline", costs=Decimal("0.01"), effect="none", inline=True)
        def inline() -> None: ...


def test_its_models_are_made_when_they_are_asked_for(monkeypatch):
    made = []
    real = step_signature.create_model
    monkeypatch.setattr(
        step_signature, "create_model", lambda *a, **k: made.append(a) or real(*a, **k)
    )

    @step("acme.late")
    def late(n: int) -> int:
        return n

    assert made == []
    assert module_of(late).Inputs is module_of(late).Inputs
    assert len(made) == 1


def untyped_return(total: int) -> str:
    return "large"


async def waits() -> None: ...


def yields() -> Iterator[int]:
    yield 1


def unreadable(order: "Order") -> None:  # noqa: F821 - that is the mistake
    ...


def plain_dict() -> typing.TypedDict("Old", {"n": int}):
    return {"n": 1}


@pytest.mark.parametrize(
    ("function", "facts", "message"),
    [
        (quote, {"type_name": "Quote"}, "a type is two or more lower-case words"),
        (quote, {"effect": "some"}, "effect is one of none, idempotent, database, external"),
        (quote, {"credential": "bearer"}, r'credential is a tuple, such as \("one",\)'),
        (quote, {"timeout_seconds": 0}, "timeout_seconds must be more than 0"),
        (quote, {"circuit": lambda given: None}, "describe the target of its circuit"),
        (Totals, {}, "@step takes a function"),
        (waits, {"inline": True}, "an inline step does no I/O"),
        (yields, {}, "cannot `yield`"),
        (unreadable, {}, r"annotations of unreadable cannot be read \(name 'Order' is not defined"),
        (untyped_return, {"outcomes": ("a", "b")}, r'returns Literal\["a", "b"\]'),
        (plain_dict, {}, "import TypedDict from typing_extensions"),
    ],
)
def test_what_cannot_be_a_step_is_told_as_it_is_imported(function, facts, message):
    with pytest.raises(TypeError, match=message):
        step(facts.pop("type_name", "acme.bad"), **facts)(function)


def test_outcomes_and_annotation_name_the_same():
    with pytest.raises(TypeError, match="use the same outcomes in both"):

        @step("acme.bad", outcomes=("large", "small"))
        def size() -> Literal["large", "tiny"]:
            return "tiny"


@pytest.mark.parametrize("facts", [{"inline": True}, {}])
def test_a_step_that_writes_with_its_record_is_neither_inline_nor_async(facts):
    def plain() -> None:
        """Reserve."""

    async def waiting() -> None:
        """Reserve."""

    with pytest.raises(TypeError, match="omit `inline` and `async`"):
        step("acme.reserve", effect="database", **facts)(plain if facts else waiting)

    described = spec(module_of(step("acme.reserve", effect="database")(plain)))
    assert described.effect == "database"
