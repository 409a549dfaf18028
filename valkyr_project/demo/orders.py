"""The orders of the bundled example, and what must become of them."""

import csv
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from valkyr_project.demo.partner_rules import Order, Trouble, number, trouble

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "order-import"


def read_orders(path: Path = FOLDER / "orders.csv") -> list[dict[str, Any]]:
    """The CSV's rows as payloads of the workflow: `{orderId, customer, email, …}`."""
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
    """`TEA-MINT:2:9.80` as `{sku, quantity, price}`."""
    sku, quantity, price = text.split(":")
    return {"sku": sku, "quantity": int(quantity), "price": float(price)}


@dataclass(frozen=True, slots=True)
class Expected:
    """How many orders must end how, when each is sent once."""

    succeeded: int
    charged: int
    refunded: int
    dead: Counter[str]  # step path -> dead letters


def expect(orders: list[dict[str, Any]]) -> Expected:
    """Work out the outcome from the partner's rules."""
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
