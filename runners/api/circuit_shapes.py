"""Circuit breakers as JSON."""
# ruff: noqa: N815 - the names are the JSON's

from rest_framework import serializers

from executions.api.fields import Body, Text
from executions.api.paging import ListQuery
from runners.circuits.holding import COUNTED
from runners.circuits.memory import Key
from runners.models import CircuitBreaker
from runners.states import CircuitState

STATES = [
    (CircuitState.CLOSED.value, "calls are made"),
    (CircuitState.OPEN.value, "the target rests"),
    (CircuitState.HALF_OPEN.value, "one step tries it"),
]


class CircuitBreakerShape(serializers.ModelSerializer[CircuitBreaker]):
    """A target of a workspace's steps, and whether it rests (`held`, by key, in the context)."""

    workspaceId = serializers.UUIDField(source="workspace_id")
    target = serializers.CharField(help_text="`http.request:api.example.com`, for example.")
    state = serializers.ChoiceField(STATES)
    failures = serializers.IntegerField(help_text="Counted until windowUntil.")
    windowUntil = serializers.DateTimeField(source="window_until", allow_null=True)
    lastFailureAt = serializers.DateTimeField(source="last_failure_at", allow_null=True)
    lastError = serializers.CharField(source="last_error", help_text="What the last failure said.")
    provenAt = serializers.DateTimeField(
        source="proven_at",
        allow_null=True,
        help_text="When it was last noted that it answers; null: not known.",
    )
    openedAt = serializers.DateTimeField(source="opened_at", allow_null=True)
    timesOpened = serializers.IntegerField(source="times_opened")
    nextRetryAt = serializers.DateTimeField(
        source="next_retry_at", allow_null=True, help_text="When a step may try it again."
    )
    probeRunId = serializers.UUIDField(
        source="probe_run_id", allow_null=True, help_text="The run that tries it now."
    )
    probeUntil = serializers.DateTimeField(source="probe_until", allow_null=True)
    held = serializers.SerializerMethodField(help_text=f"Steps held for it, up to {COUNTED:,}.")
    createdAt = serializers.DateTimeField(source="created_at")

    class Meta:
        model = CircuitBreaker
        fields = [
            "id", "workspaceId", "target", "state", "failures", "windowUntil", "lastFailureAt",
            "lastError", "provenAt", "openedAt", "timesOpened", "nextRetryAt", "probeRunId",
            "probeUntil", "held", "createdAt",
        ]  # fmt: skip

    def get_held(self, row: CircuitBreaker) -> int:
        """How many steps wait for it."""
        held: dict[Key, int] = self.context["held"]
        return held.get(Key(row.workspace_id, row.target), 0)


class CircuitBreakerQuery(ListQuery):
    """The filters of the list of circuit breakers."""

    state = serializers.ChoiceField(STATES, required=False)
    target = serializers.CharField(
        required=False, max_length=300, help_text="This target, as it is written here."
    )


class ResetCircuit(Body):
    """Why somebody closes a circuit."""

    reason = Text(max_length=2000)
