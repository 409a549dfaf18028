"""What remote runners say, and what they are told."""
# ruff: noqa: N815 - the names are the JSON's

from typing import Any

from django.core.validators import RegexValidator
from rest_framework import serializers

from executions.public.api import Body, CamelCaseSerializer, Json, Text, Whole
from runners.public.api import RunSummary
from runners.public.leased_runs import MAX_DELAY_SECONDS
from runners.public.modules import ErrorType

MAX_QUEUES = 20
MOST_RUNS = 100
LONGEST_WAIT = 20
MAX_TOKENS = 2**63 - 1
REPORTED = [
    (kind.value, kind.value.lower())
    for kind in (ErrorType.TRANSIENT, ErrorType.PERMANENT, ErrorType.TIMEOUT)
]
# What tells our own workers' names apart, a bar, and a workspace's from its runner's, a slash.
NAME = RegexValidator(
    r"\A[A-Za-z0-9][A-Za-z0-9._:@-]*\Z",
    "Expected letters, digits, and . _ : @ - after the first.",
)


class Seconds(serializers.FloatField):
    """A JSON number of seconds, not "5" or true."""

    def to_internal_value(self, data: Any) -> float:
        """The number; raises ValidationError."""
        if isinstance(data, bool) or not isinstance(data, int | float):
            self.fail("invalid")
        return super().to_internal_value(data)


class LeaseRequest(Body):
    """A remote runner asks for work."""

    runnerId = Text(
        max_length=100,
        validators=[NAME],
        help_text="Its own name: letters, digits, and . _ : @ - after the first.",
    )
    queues: Any = serializers.ListField(
        child=Text(max_length=100),
        min_length=1,
        max_length=MAX_QUEUES,
        help_text="Queues of VALKYR_REMOTE_QUEUES.",
    )
    limit = Whole(required=False, default=1, min_value=1, max_value=MOST_RUNS)
    waitSeconds = Whole(
        required=False,
        default=0,
        min_value=0,
        max_value=LONGEST_WAIT,
        help_text="How long to wait where there is no work yet.",
    )


class LeasedRun(RunSummary):
    """A run in a remote runner's hands, with everything it needs."""

    inputs = Json(help_text="As the workflow renders them, secrets in place.")
    credential = Json(
        allow_null=True, help_text="The fields of the credential the step names, if any."
    )
    leaseToken = serializers.CharField(help_text="To be shown with everything reported of it.")
    timeoutSeconds = serializers.FloatField(help_text="How long it may take, from now.")
    lastDetails = Json(
        source="heartbeat_details",
        allow_null=True,
        help_text="What the attempt or holder before told with its heartbeats.",
    )

    traceparent = serializers.CharField(
        allow_null=True,
        help_text="The parent of the runner's own spans (W3C); null where nothing is traced.",
    )

    class Meta(RunSummary.Meta):
        fields = [
            *RunSummary.Meta.fields, "inputs", "credential", "leaseToken", "timeoutSeconds",
            "lastDetails", "traceparent",
        ]  # fmt: skip


class Heartbeat(Body):
    """A remote runner is at work."""

    leaseToken = Text(max_length=200)
    details = Json(
        required=False, allow_null=True, default=None, help_text="Kept for the next attempt."
    )


class Renewed(CamelCaseSerializer):
    """How the lease stands."""

    lease_until = serializers.DateTimeField(
        allow_null=True, help_text="Null where the run is not wanted."
    )
    wanted = serializers.BooleanField(
        help_text="False once its execution was cancelled, ran out of time or was rolled back."
    )


class Completion(Body):
    """A step that is done."""

    leaseToken = Text(max_length=200)
    outputs = Json(allow_null=True)
    outcome = Text(required=False, default="success", max_length=100)
    costTokens = Whole(required=False, default=0, min_value=0, max_value=MAX_TOKENS)


class FailureReport(Body):
    """A step that failed."""

    leaseToken = Text(max_length=200)
    error = Text(max_length=10_000, help_text="A sentence for people; no secrets.")
    errorType: Any = serializers.ChoiceField(
        REPORTED, help_text="TRANSIENT and TIMEOUT are tried again."
    )
    retryAfter = Seconds(
        required=False,
        allow_null=True,
        default=None,
        min_value=0,
        max_value=MAX_DELAY_SECONDS,
        help_text="Seconds to wait at least before the next attempt.",
    )
    fingerprint = Text(
        required=False,
        default="",
        allow_blank=True,
        max_length=200,
        help_text="What this kind of failure is called; those of one name are one failure group.",
    )
