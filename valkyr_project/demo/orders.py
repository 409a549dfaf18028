"""The orders of the bundled example, and the results that are expected for them."""

import csv
from collections import Counter
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

# The partner's answers depend only on the order's number and on the number of its calls.
#
# No I/O. The same orders always have the same faults, so that the demo knows the result.


DISCONTINUED = "OLD-"  # articles whose SKU has this prefix are rejected in every order


class Trouble(Enum):
    """The fault that the partner shows for an order; NONE if there is none."""

    NONE = "answers at once"
    BUSY = "503 twice, then succeeds"
    SLOW_DOWN = "429 with Retry-After, then succeeds"
    LOST_ANSWER = "does the work, but the answer is lost (503)"
    DECLINED = "402, card declined"
    BANK_DOWN = "503 every time"
    HANGS = "never answers, until it wakes up after the demo"
    REFUSED = "422, an article is discontinued"


@dataclass(frozen=True, slots=True)
class Order:
    """The number and the articles of an order, which determine the partner's answers."""

    number: int
    skus: tuple[str, ...]


def number(order_id: str) -> int:
    """Return an order's number: 1 for ORD-1001, and 0 for an ID in another format."""
    digits = order_id.removeprefix("ORD-")
    return int(digits) - 1000 if digits.isdigit() else 0


def trouble(service: str, order: Order) -> Trouble:
    """Return the fault that `service` (reservations, charges, shipments, …) has for `order`."""
    n = order.number
    if service == "reservations":
        return _reservation_trouble(order)
    if service == "charges":
        if n % 50 == 21:
            return Trouble.DECLINED
        if n == 144:
            return Trouble.BANK_DOWN
        return Trouble.LOST_ANSWER if n % 20 == 9 else Trouble.NONE
    if service == "shipments" and n == 66:
        return Trouble.HANGS
    return Trouble.NONE


def _reservation_trouble(order: Order) -> Trouble:
    if any(sku.startswith(DISCONTINUED) for sku in order.skus):
        return Trouble.REFUSED
    if order.number % 20 == 7:
        return Trouble.BUSY
    return Trouble.SLOW_DOWN if order.number % 25 == 11 else Trouble.NONE


_PROJECT = Path(__file__).resolve().parents[2]
# In the repository, the folder is beside the packages; in the wheel, it is inside one of them.
FOLDER = next(
    place / "order-import"
    for place in (_PROJECT / "executions" / "examples", _PROJECT / "examples")
    if place.is_dir()
)


def read_orders(path: Path = FOLDER / "orders.csv") -> list[dict[str, Any]]:
    """Return the CSV's rows as payloads of the workflow: `{orderId, customer, email, …}`."""
    with path.open(newline="") as file:
        return [_payload(row) for row in csv.DictReader(file)]


def _payload(row: dict[str, str]) -> dict[str, Any]:
    return {
        "orderId": row["orderId"],
        "customer": row["customer"],
        "email": row["email"],
        "currency": row["currency"],
        "items": [_item(text) for text in row["items"].split()],
        "total": float(row["total"]),
    }


def _item(text: str) -> dict[str, Any]:
    """Return the item in a string such as `TEA-MINT:2:9.80`, as `{sku, quantity, price}`."""
    sku, quantity, price = text.split(":")
    return {"sku": sku, "quantity": int(quantity), "price": float(price)}


@dataclass(frozen=True, slots=True)
class Expected:
    """The expected numbers of orders, and of dead letters by step, if each order is sent once."""

    succeeded: int
    charged: int
    refunded: int
    dead: Counter[str]  # step path -> dead letters


def expect(orders: list[dict[str, Any]]) -> Expected:
    """Return the expected results for these orders, computed from the partner's rules."""
    dead: Counter[str] = Counter()
    refunded = 0
    for payload in orders:
        order = Order(number(payload["orderId"]), tuple(i["sku"] for i in payload["items"]))
        if "@" not in payload["email"]:
            dead["validate.main"] += 1
        elif trouble("reservations", order) is Trouble.REFUSED:
            dead["reserve.main"] += 1
        elif trouble("charges", order) in {Trouble.DECLINED, Trouble.BANK_DOWN}:
            refunded += 1
        elif trouble("shipments", order) is Trouble.HANGS:
            dead["ship.main"] += 1
    succeeded = len(orders) - dead.total()
    return Expected(succeeded, succeeded - refunded + dead["ship.main"], refunded, dead)
