"""Circuit breakers: list, read, and close one by hand."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from executions.public.access import Action, obtain, visible
from executions.public.api import Endpoint, narrowed, operation, page
from valkyr_plugins.circuits.holding import held_for
from valkyr_plugins.circuits.memory import Key
from valkyr_plugins.circuits.models import CircuitBreaker
from valkyr_plugins.circuits.resetting import reset
from valkyr_plugins.circuits.shapes import CircuitBreakerQuery, CircuitBreakerShape, ResetCircuit

TAG = "CircuitBreaker"
FILTERS = {"state": "state", "target": "target"}
# Ids are made in the order in which targets were first called.
BY_ID = ("id",)


def shown(rows: Sequence[CircuitBreaker]) -> list[Any]:
    """Circuit breakers with how many steps are held for each."""
    held = held_for([Key(row.workspace_id, row.target) for row in rows])
    return list(CircuitBreakerShape(rows, many=True, context={"held": held}).data)


class CircuitBreakers(Endpoint):
    """All circuit breakers."""

    @operation(
        "listCircuitBreakers",
        TAG,
        {200: CircuitBreakerShape(many=True)},
        parameters=[CircuitBreakerQuery],
    )
    def get(self, request: Request) -> Response:
        """The targets that steps of your workspaces call, and which of them rest."""
        query = self.query(CircuitBreakerQuery)
        rows = narrowed(visible(self.user, CircuitBreaker.objects.all()), query, FILTERS)
        found = page(request, rows, query, order=BY_ID)
        return Response(shown(found.rows), headers=found.headers)


class OneCircuitBreaker(Endpoint):
    """One circuit breaker."""

    @operation("getCircuitBreaker", TAG, {200: CircuitBreakerShape}, errors=[403, 404])
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """One target, and whether it rests."""
        row, _ = obtain(self.user, CircuitBreaker.objects.all(), id, Action.VIEW)
        return Response(shown([row])[0])


class ResetCircuitBreaker(Endpoint):
    """Close one by hand."""

    @operation(
        "resetCircuitBreaker",
        TAG,
        {200: CircuitBreakerShape},
        request=ResetCircuit,
        errors=[403, 404],
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Close it and forget its failures; a few held steps go on, all once one succeeds."""
        row, _ = obtain(self.user, CircuitBreaker.objects.all(), id, Action.OPERATE)
        reset(id, actor=self.actor, reason=self.body(ResetCircuit)["reason"])
        row.refresh_from_db()
        return Response(shown([row])[0])
