"""The workflow that the journeys build: the demo's order, without its mail and its refunds."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Step:
    """A task to add: its id, its module's name in the palette, and its request to the partner."""

    id: str
    module: str
    service: str = ""

    @property
    def url(self) -> str:
        return f"{{{{ vars.partner }}}}/{self.service}"


RESERVE = Step("reserve", "HTTP request", "reservations")
BIG = Step("big", "If")
REVIEW = Step("review", "HTTP request", "reviews")
CHARGE = Step("charge", "HTTP request", "charges")
SHIP = Step("ship", "HTTP request", "shipments")
STEPS = (RESERVE, BIG, REVIEW, CHARGE, SHIP)

CONDITION = "{{ input.total > 1000 }}"
BODY = '{"orderId": "{{ input.orderId }}"}'
PAYLOAD = '{"orderId": "ORD-1001", "total": 40}'

SHAPE: dict[str, Any] = {
    "tasks": {
        "reserve": "http.request",
        "big": "flow.if",
        "review": "http.request",
        "charge": "http.request",
        "ship": "http.request",
    },
    "edges": [
        "big false charge",
        "big true review",
        "charge success ship",
        "reserve success big",
        "review success charge",
    ],
}
# A small order: it needs no review.
ENDED = {
    "reserve": "succeeded",
    "big": "succeeded",
    "review": "skipped",
    "charge": "succeeded",
    "ship": "succeeded",
}


def shape_of(definition: dict[str, Any]) -> dict[str, Any]:
    """Return the result, without positions: modules by task id, and edges with their outcomes."""
    return {
        "tasks": {task["id"]: task["use"] for task in definition["tasks"]},
        "edges": sorted(
            f"{edge['from']} {edge.get('on', 'success')} {edge['to']}"
            for edge in definition["edges"]
        ),
    }
