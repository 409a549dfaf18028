"""What the partner answers, decided by the order's number and how often it has asked.

Pure: the same orders always meet the same trouble, so that the demo knows what to expect.
"""

from dataclasses import dataclass
from enum import Enum

DISCONTINUED = "OLD-"  # articles whose SKU begins so are refused, whatever the order


class Trouble(Enum):
    """What goes wrong at the partner's, if anything."""

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
    """As much of an order as decides the answers."""

    number: int
    skus: tuple[str, ...]


def number(order_id: str) -> int:
    """1 for ORD-1001; 0 for an id of another shape, which meets no trouble."""
    digits = order_id.removeprefix("ORD-")
    return int(digits) - 1000 if digits.isdigit() else 0


def trouble(service: str, order: Order) -> Trouble:
    """What `service` (reservations, charges, shipments, …) has in store for `order`."""
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
