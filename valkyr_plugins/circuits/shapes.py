"""Circuit breakers as JSON."""

from rest_framework import serializers

from executions.public.api import Body, CamelCase, ListQuery, Text
from valkyr_plugins.circuits.breaker import CircuitState
from valkyr_plugins.circuits.holding import COUNTED
from valkyr_plugins.circuits.memory import Key
from valkyr_plugins.circuits.models import CircuitBreaker

STATES = [
    (CircuitState.CLOSED.value, "calls are made"),
    (CircuitState.OPEN.value, "the target rests"),
    (CircuitState.HALF_OPEN.value, "one step tries it"),
]


class CircuitBreakerShape(CamelCase, serializers.ModelSerializer[CircuitBreaker]):
    """A target of a workspace's steps, and whether it rests (`held`, by key, in the context)."""

    workspace_id = serializers.UUIDField()
    target = serializers.CharField(help_text="`http.request:api.example.com`, for example.")
    state = serializers.ChoiceField(STATES)
    failures = serializers.IntegerField(help_text="Counted until windowUntil.")
    window_until = serializers.DateTimeField(allow_null=True)
    last_failure_at = serializers.DateTimeField(allow_null=True)
    last_error = serializers.CharField(help_text="What the last failure said.")
    proven_at = serializers.DateTimeField(
        allow_null=True,
        help_text="When it was last noted that it answers; null: not known.",
    )
    opened_at = serializers.DateTimeField(allow_null=True)
    times_opened = serializers.IntegerField()
    next_retry_at = serializers.DateTimeField(
        allow_null=True, help_text="When a step may try it again."
    )
    probe_run_id = serializers.UUIDField(allow_null=True, help_text="The run that tries it now.")
    probe_until = serializers.DateTimeField(allow_null=True)
    held = serializers.SerializerMethodField(help_text=f"Steps held for it, up to {COUNTED:,}.")
    created_at = serializers.DateTimeField()

    class Meta:
        model = CircuitBreaker
        fields = [
            "id", "workspace_id", "target", "state", "failures", "window_until", "last_failure_at",
            "last_error", "proven_at", "opened_at", "times_opened", "next_retry_at", "probe_run_id",
            "probe_until", "held", "created_at",
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
