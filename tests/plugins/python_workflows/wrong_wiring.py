"""Programs that a type checker must reject: each wrong line ends with its mark.

The file is not imported; test_typing.py compares mypy's findings with the marks.
"""

from pydantic import BaseModel

from valkyr import StepContext, approve, choose, each, first_of, modules, step, when, workflow


class Order(BaseModel):
    """An order."""

    id: int
    total: float
    lines: list[str]


class Receipt(BaseModel):
    """A receipt for a payment."""

    number: str


@step(retry={"maxAttempts": 3})
def charge(order: int) -> Receipt:
    """Charge the card."""
    return Receipt(number=str(order))


@step
def pack(line: str) -> int:
    """Pack one line."""
    return len(line)


@step
async def ship(ctx: StepContext, order: int, parcels: list[int]) -> str:
    """Ship the parcels."""
    return f"{order}{parcels}"


@step
def note(text: str) -> None:
    """Write a note."""


@workflow
def right(order: Order) -> str:
    """Connect everything correctly."""
    paid = charge.options(retry="patient")(order.id)
    told = note(f"paid {modules.data.set.options(retry=2)(values={'a': paid.number}).a}")
    parcels = each(order.lines, pack, at_most=3)
    with when((order.total > 10) & (paid.number != "")):
        approve(f"Ship {order.id}?", within="2d")
    kept = modules.file.write.options(retry="patient")(path="a.txt", content=paid.number)
    charge(kept.bytes)
    note(modules.http.request(url="https://example.com/").headers["etag"])
    note(modules.data.csv_write(rows=[]).columns[0])
    each(modules.file.list(path="a").entries, lambda entry: note(entry.path))
    modules.warehouse.count(shelf=3)  # of another package: of any type
    with when(modules.data.sort(rows=[3, 1]).count > 1):
        charge(modules.data.set(values={"id": 3}).id)
    return ship.options(after=told)(order.id, parcels)


@workflow
def wrong(order: Order) -> int:
    """Connect everything incorrectly."""
    paid = charge(order.lines)  # WRONG: a list instead of a number
    charge()  # WRONG: an argument is missing
    charge.options(retry="none")(order="7")  # WRONG: a text instead of a number
    ship(paid, [1])  # WRONG: another step's output
    print(paid.numbr)  # WRONG: an unknown field
    parcels = each([1, 2], pack)  # WRONG: items of another kind than the step takes
    ship(order.id, each(order.lines, charge))  # WRONG: results of another kind
    ship(order.id, first_of(order.total, 3))  # WRONG: neither is a list
    choose(order.total > 3, paid, pack("x")).number  # WRONG: one of the two has no such field
    approve(order.id)  # WRONG: a title is a text
    each(order.lines, pack, at_most="3")  # WRONG: a text instead of a number
    ship(order.id, modules.data.sort)  # WRONG: a built-in module without a call
    kept = modules.file.write(path="a.txt", content="")
    charge(kept.path)  # WRONG: a text instead of a number
    print(kept.size)  # WRONG: file.write has no such field
    note(modules.file.list(path="a").entries[0].bytes)  # WRONG: a number instead of a text
    pack(modules.http.request(url="https://example.com/").headers)  # WRONG: an object, not a text
    note(modules.data.sort(rows=[]).rows.length)  # WRONG: a list has no such field
    modules.file.write(paht="a.txt")  # WRONG: an unknown input
    modules.file.wirte(path="a.txt")  # WRONG: an unknown module
    modules.http.request("https://example.com/")  # WRONG: inputs are given by name
    modules.flow.if_.options(retry=2).outcome  # WRONG: a module without a call
    right.start(7)  # WRONG: the payload is an order
    right.start(order=order, amount=7)  # WRONG: an unknown parameter
    return paid  # WRONG: it promises a number
