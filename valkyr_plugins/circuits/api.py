"""Endpoints that list, return and reset circuit breakers."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from executions.public.access import Action, obtain, visible
from executions.public.api import (
    Body,
    CamelCase,
    Endpoint,
    ListQuery,
    Text,
    narrowed,
    operation,
    page,
)
from valkyr_plugins.circuits.breaker import CircuitState
from valkyr_plugins.circuits.gate import MOST_COUNTED, held_for, reset
from valkyr_plugins.circuits.memory import Key
from valkyr_plugins.circuits.models import CircuitBreaker

# Circuit breakers as JSON.


STATES = [
    (CircuitState.CLOSED.value, "calls are made"),
    (CircuitState.OPEN.value, "calls to the target are held"),
    (CircuitState.HALF_OPEN.value, "one step probes the target"),
]


class CircuitBreakerShape(CamelCase, serializers.ModelSerializer[CircuitBreaker]):
    """A target of a workspace's steps, and its circuit."""

    workspace_id = serializers.UUIDField()
    target = serializers.CharField(help_text="`http.request:api.example.com`, for example.")
    state = serializers.ChoiceField(STATES)
    failures = serializers.IntegerField(help_text="Counted until windowUntil.")
    window_until = serializers.DateTimeField(allow_null=True)
    last_failure_at = serializers.DateTimeField(allow_null=True)
    last_error = serializers.CharField(help_text="The message of the last failure.")
    proven_at = serializers.DateTimeField(
        allow_null=True,
        help_text="When the target was last known to answer; null if unknown.",
    )
    opened_at = serializers.DateTimeField(allow_null=True)
    times_opened = serializers.IntegerField()
    next_retry_at = serializers.DateTimeField(
        allow_null=True, help_text="When a step may probe it."
    )
    probe_run_id = serializers.UUIDField(allow_null=True, help_text="The run that probes it now.")
    probe_until = serializers.DateTimeField(allow_null=True)
    held = serializers.SerializerMethodField(
        help_text=f"The number of steps held for it, counted up to {MOST_COUNTED:,}."
    )
    created_at = serializers.DateTimeField()

    class Meta:
        model = CircuitBreaker
        fields = [
            "id", "workspace_id", "target", "state", "failures", "window_until", "last_failure_at",
            "last_error", "proven_at", "opened_at", "times_opened", "next_retry_at", "probe_run_id",
            "probe_until", "held", "created_at",
        ]  # fmt: skip

    def get_held(self, row: CircuitBreaker) -> int:
        """Return the number of steps that the circuit holds."""
        held: dict[Key, int] = self.context["held"]
        return held.get(Key(row.workspace_id, row.target), 0)


class CircuitBreakerQuery(ListQuery):
    """The filters of the list of circuit breakers."""

    state = serializers.ChoiceField(STATES, required=False)
    target = serializers.CharField(required=False, max_length=300, help_text="Only this target.")


class ResetCircuit(Body):
    """The reason for resetting a circuit."""

    reason = Text(max_length=2000)


TAG = "CircuitBreaker"
FILTERS = {"state": "state", "target": "target"}
# IDs increase in the order in which the targets were first called.
BY_ID = ("id",)


def shown(rows: Sequence[CircuitBreaker]) -> list[Any]:
    """Return circuit breakers as JSON, with the numbers of steps that they hold."""
    held = held_for([Key(row.workspace_id, row.target) for row in rows])
    return list(CircuitBreakerShape(rows, many=True, context={"held": held}).data)


class CircuitBreakers(Endpoint):
    """The endpoint that lists circuit breakers."""

    @operation(
        "listCircuitBreakers",
        TAG,
        {200: CircuitBreakerShape(many=True)},
        parameters=[CircuitBreakerQuery],
    )
    def get(self, request: Request) -> Response:
        """List the targets that steps of your workspaces call, with their circuits."""
        query = self.query(CircuitBreakerQuery)
        rows = narrowed(visible(self.user, CircuitBreaker.objects.all()), query, FILTERS)
        found = page(request, rows, query, order=BY_ID)
        return Response(shown(found.rows), headers=found.headers)


class OneCircuitBreaker(Endpoint):
    """The endpoint that returns one circuit breaker."""

    @operation("getCircuitBreaker", TAG, {200: CircuitBreakerShape}, errors=[403, 404])
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """Return one target and its circuit."""
        row, _ = obtain(self.user, CircuitBreaker.objects.all(), id, Action.VIEW)
        return Response(shown([row])[0])


class ResetCircuitBreaker(Endpoint):
    """The endpoint that resets a circuit."""

    @operation(
        "resetCircuitBreaker",
        TAG,
        {200: CircuitBreakerShape},
        request=ResetCircuit,
        errors=[403, 404],
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Close a circuit and reset its failures.

        A few held steps continue immediately; the others follow after the target's first answer.
        """
        row, _ = obtain(self.user, CircuitBreaker.objects.all(), id, Action.OPERATE)
        reset(id, actor=self.actor, reason=self.body(ResetCircuit)["reason"])
        row.refresh_from_db()
        return Response(shown([row])[0])
