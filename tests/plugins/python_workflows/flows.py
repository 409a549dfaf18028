"""Steps and workflows that the tests trace, publish and run."""

from typing import Annotated

from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from valkyr import (
    StepContext,
    approve,
    each,
    error,
    failed,
    modules,
    otherwise,
    repeat,
    sleep,
    step,
    sub,
    switch,
    when,
    workflow,
)
from valkyr_plugins.python_workflows import workflow as declared

UNDONE: list[int] = []
GIVEN_BACK: list[str] = []


class Order(BaseModel):
    """An order."""

    id: int
    total: float
    lines: list[int] = []


class Receipt(BaseModel):
    """A receipt for a payment."""

    number: str
    cents: int


class Sent(TypedDict):
    """A shipment."""

    parcels: list[str]
    receipt: str


@step(retry={"maxAttempts": 2, "baseSeconds": 0})
def charge(order: int, cents: float) -> Receipt:
    """Charge the card."""
    if cents < 0:
        raise ValueError("nothing to pay")
    return Receipt(number=f"r{order}", cents=int(cents))


@step
def refund(order: int) -> None:
    """Pay back."""
    UNDONE.append(order)


@step
def pack(line: int) -> str:
    """Pack one line."""
    return f"p{line}"


@step
def ship(order: int, parcels: list[str], receipt: str) -> Sent:
    """Ship the parcels."""
    if order == 13:
        raise ValueError("no carrier goes there")
    return {"parcels": parcels, "receipt": receipt}


@step
def note(text: str) -> str:
    """Return the text."""
    return text


@step
def find_order(
    context: StepContext, order_number: str, *, with_receipt: bool = False
) -> dict[str, str]:
    """Finds an order by its number."""
    return {"order": order_number}


@step
def give_back(number: Annotated[str, Field(description="The order's number.")]) -> str:
    """Refunds an order."""
    GIVEN_BACK.append(number)
    return "refunded"


@workflow
def fulfil(order: Order) -> Sent:
    """Fulfil an order."""
    paid = charge.options(undo=refund)(order.id, order.total * 100)
    parcels = each(order.lines, pack, at_most=10)
    with when(order.total > 1000):
        approve(f"Ship for {order.total}?", within="2d")
    return ship(order.id, parcels, paid.number)


@workflow
def careful(order: Order) -> object:
    """Continue elsewhere if the charge fails."""
    paid = charge(order.id, order.total)
    with when(failed(paid)):
        note(f"not paid: {error(paid).message}")
    return error(paid).message


@workflow
def sorted_by_country(country: str) -> None:
    """Take one of three ways."""
    zone = switch(country)
    with zone.case("DE"):
        note("home")
    with zone.case("AT", "CH"):
        note("near")
    with zone.default():
        note("far")


@workflow
def patient(times: int) -> None:
    """Loop, sleep, decide, and call another workflow."""
    with repeat(count=times):
        note("again")
    sleep("1h")
    with when(times == 2):
        modules.data.set(values={"two": True})
    with otherwise():
        sub(sorted_by_country)(country="DE")


# `migrate` publishes declared workflows, also in the database of all other tests.
DECLARED = [one for one in declared.DECLARED if one.function.__module__ == __name__]
for one in DECLARED:
    declared.DECLARED.remove(one)
