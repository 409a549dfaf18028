"""Endpoints with which remote runners lease runs, send heartbeats and report results."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

# ruff: noqa: N815 - the names are the JSON's
from django.core.validators import RegexValidator
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from executions.public.access import Action, Powers, obtain, workspace_for, workspaces_of
from executions.public.api import Body, CamelCaseSerializer, Endpoint, Json, Text, Whole, operation
from executions.public.configuration import limits
from executions.public.definitions import DefinitionProblem
from runners.public.api import RunShape, RunSummary
from runners.public.leased_runs import (
    MAX_AMOUNT,
    MAX_DELAY_SECONDS,
    MAX_MODELS,
    MAX_NAME,
    Expense,
    traceparents,
)
from runners.public.models import Run
from runners.public.modules import ErrorType
from valkyr_plugins.remote import leasing, reporting
from valkyr_plugins.remote.reporting import NotRemote

# The requests of remote runners and the responses to them.


MAX_QUEUES = 20
MOST_RUNS = 100
LONGEST_WAIT = 20
MAX_TOKENS = 2**63 - 1
REPORTED = [
    (kind.value, kind.value.lower())
    for kind in (ErrorType.TRANSIENT, ErrorType.PERMANENT, ErrorType.TIMEOUT)
]
# `|` and `/` are not allowed: Valkyr's own workers have `|` in their names, and `/` separates a
# workspace from its runner.
NAME = RegexValidator(
    r"\A[A-Za-z0-9][A-Za-z0-9._:@-]*\Z",
    "Expected a letter or digit, then letters, digits and . _ : @ -",
)

CURRENCY = RegexValidator(
    r"\A([A-Z]{3})?\Z", ("Expected a three-letter code such as EUR, or nothing.")
)


class Seconds(serializers.FloatField):
    """A JSON number of seconds; strings such as "5" and booleans are rejected."""

    def to_internal_value(self, data: Any) -> float:
        """Return the seconds. Raises ValidationError."""
        if isinstance(data, bool) or not isinstance(data, int | float):
            self.fail("invalid")
        return super().to_internal_value(data)


class LeaseRequest(Body):
    """A remote runner's request for work."""

    runnerId = Text(
        max_length=100,
        validators=[NAME],
        help_text="The runner's name: a letter or digit, then letters, digits and . _ : @ -",
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
        help_text="Seconds to wait for a run.",
    )


class LeasedRun(RunSummary):
    """A run leased by a remote runner, with everything that the runner needs."""

    inputs = Json(help_text="The rendered inputs, including secrets.")
    credential = Json(
        allow_null=True, help_text="The fields of the step's credential, if it has one."
    )
    leaseToken = serializers.CharField(
        help_text=("Send it with every heartbeat and report of this run.")
    )
    timeoutSeconds = serializers.FloatField(help_text="Seconds from now in which it must finish.")
    targetTimeoutSeconds = serializers.FloatField(
        allow_null=True,
        help_text="The time limit for a call to the step's target, if a circuit rule sets one.",
    )
    lastDetails = Json(
        source="heartbeat_details",
        allow_null=True,
        help_text="The newest heartbeat details of previous attempts or holders.",
    )

    traceparent = serializers.CharField(
        allow_null=True,
        help_text="The parent of the runner's spans (W3C); null without tracing.",
    )

    class Meta(RunSummary.Meta):
        fields = [
            *RunSummary.Meta.fields, "inputs", "credential", "leaseToken", "timeoutSeconds",
            "targetTimeoutSeconds", "lastDetails", "traceparent",
        ]  # fmt: skip


class Heartbeat(Body):
    """The heartbeat of a remote runner."""

    leaseToken = Text(max_length=200)
    details = Json(
        required=False,
        allow_null=True,
        default=None,
        help_text="Details that are stored for the next attempt.",
    )


class Renewed(CamelCaseSerializer):
    """The response to a heartbeat: the end of the lease, and whether the run is still wanted."""

    lease_until = serializers.DateTimeField(
        allow_null=True, help_text="Null if the run is no longer wanted."
    )
    wanted = serializers.BooleanField(
        help_text="False if its execution was cancelled, timed out or was rolled back."
    )


class ExpenseShape(Body):
    """The costs of a step for one model or service."""

    model = Text(required=False, default="", allow_blank=True, max_length=MAX_NAME)
    inputTokens = Whole(required=False, default=0, min_value=0, max_value=MAX_TOKENS)
    outputTokens = Whole(required=False, default=0, min_value=0, max_value=MAX_TOKENS)
    tokens = Whole(
        required=False,
        default=0,
        min_value=0,
        max_value=MAX_TOKENS,
        help_text="All tokens; default: the sum of input and output.",
    )
    amount = serializers.DecimalField(
        required=False,
        default=Decimal(0),
        max_digits=18,
        decimal_places=8,
        min_value=Decimal(0),
        max_value=MAX_AMOUNT,
        help_text="Money, in `currency`.",
    )
    currency = Text(
        required=False,
        default="",
        allow_blank=True,
        max_length=3,
        validators=[CURRENCY],
        help_text="A three-letter code (ISO 4217); empty for the installation's currency.",
    )


class Reports(Body):
    """The fields that are common to the reports of completed and failed steps."""

    leaseToken = Text(max_length=200)
    costs: Any = serializers.ListField(
        child=ExpenseShape(),
        required=False,
        default=list,
        max_length=MAX_MODELS,
        help_text="The step's costs by model; they count against budgets and quotas on tokens.",
    )


class Completion(Reports):
    """The report of a completed step."""

    outputs = Json(allow_null=True)
    outcome = Text(required=False, default="success", max_length=100)


class FailureReport(Reports):
    """The report of a failed step."""

    error = Text(max_length=10_000, help_text="A message for people, without secrets.")
    errorType: Any = serializers.ChoiceField(
        REPORTED, help_text="TRANSIENT and TIMEOUT are retried."
    )
    retryAfter = Seconds(
        required=False,
        allow_null=True,
        default=None,
        min_value=0,
        max_value=MAX_DELAY_SECONDS,
        help_text="Minimum seconds before the next attempt.",
    )
    fingerprint = Text(
        required=False,
        default="",
        allow_blank=True,
        max_length=200,
        help_text=(
            "The name of this kind of failure; failures with the same name form one failure group."
        ),
    )


class LeaseRun(Endpoint):
    """The endpoint that leases runs to remote runners."""

    @operation("leaseRun", "Run", {200: LeasedRun(many=True)}, request=LeaseRequest, errors=[403])
    def post(self, request: Request) -> Response:
        """Lease runs of remote queues: highest priority first, and oldest first within a priority.

        The list may be empty. Each run is leased until its `leaseUntil`: send a heartbeat before
        that, and report the result at most `timeoutSeconds` from now. Returns 422 (`not_remote`)
        for other queues.
        """
        given = self.body(LeaseRequest)
        queues: list[str] = given["queues"]
        _all_remote(queues)
        workspaces = workspaces_of(self.user, Action.RUN)
        if not workspaces:
            # Raises an error that names the missing permission.
            workspace_for(self.user, None, Action.RUN)
        host = request.META.get("REMOTE_ADDR") or ""
        runner: str = given["runnerId"]

        def look() -> list[leasing.Leased]:
            leasing.note(runner, workspaces, queues, host)
            return leasing.lease(runner, workspaces, queues, given["limit"], actor=self.actor)

        found = leasing.poll(look, given["waitSeconds"], self.gone)
        runs = [leased.run for leased in found]
        parents = traceparents(runs) if traceparents.provided else {}
        shown = [_shown(leased, parents.get(leased.run.pk)) for leased in found]
        return Response(LeasedRun(shown, many=True).data)


class HeartbeatRun(Endpoint):
    """The endpoint that renews the lease of a run."""

    urgent = True

    @operation(
        "updateRunHeartbeat", "Run", {200: Renewed}, request=Heartbeat, errors=[403, 404, 409]
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """Renew the lease; the first heartbeat begins the run.

        `wanted` is false once the result is no longer needed: stop then, and report nothing.
        Returns 409 (`lease_lost`) if the lease is over or belongs to another runner.
        """
        run, _ = _held(self, id)
        given = self.body(Heartbeat)
        beat = reporting.beat(run, given["leaseToken"], given["details"])
        return Response(Renewed(beat).data)


class CompleteRun(Endpoint):
    """The endpoint that records a completed run."""

    urgent = True

    @operation("completeRun", "Run", {200: RunShape}, request=Completion, errors=[403, 404, 409])
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Record the result of a run, and continue its execution.

        The same result, sent again under the same lease, gets the same response. Returns 409
        (`lease_lost`) if the lease is over. Returns 422 if the outputs cannot be stored or the step
        does not declare the outcome; you still hold the lease then.
        """
        run, may = _held(self, id)
        given = self.body(Completion)
        reported = reporting.Reported(given["outputs"], given["outcome"], _spent(given["costs"]))
        reporting.complete(run, given["leaseToken"], reported)
        return _answer(id, may)


class FailRun(Endpoint):
    """The endpoint that records a failed run."""

    urgent = True

    @operation("failRun", "Run", {200: RunShape}, request=FailureReport, errors=[403, 404, 409])
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Record the failure: the run is retried, follows an error edge, or becomes a dead letter.

        The same failure, sent again under the same lease, gets the same response. Returns 409
        (`lease_lost`) if the lease is over.
        """
        run, may = _held(self, id)
        given = self.body(FailureReport)
        reporting.fail(
            run,
            given["leaseToken"],
            given["error"],
            ErrorType(given["errorType"]),
            given["retryAfter"],
            given["fingerprint"],
            _spent(given["costs"]),
        )
        return _answer(id, may)


def _all_remote(queues: Sequence[str]) -> None:
    problems = [
        DefinitionProblem(
            f"queues[{place}]", "not_remote", f"{name!r} is not a queue of VALKYR_REMOTE_QUEUES."
        )
        for place, name in enumerate(queues)
        if name not in limits().remote_queues
    ]
    if problems:
        raise NotRemote(problems)


def _held(endpoint: Endpoint, run_id: UUID) -> tuple[Run, Powers]:
    rows = Run.objects.select_related("execution").only(
        "id", "state", "lease_token", "execution__workspace_id", "execution__workflow_id"
    )
    return obtain(endpoint.user, rows, run_id, Action.RUN)


def _spent(costs: Sequence[Mapping[str, Any]]) -> tuple[Expense, ...]:
    return tuple(
        Expense(
            tokens=cost["tokens"],
            amount=cost["amount"],
            currency=cost["currency"],
            model=cost["model"],
            input_tokens=cost["inputTokens"],
            output_tokens=cost["outputTokens"],
        )
        for cost in costs
    )


def _shown(leased: leasing.Leased, traceparent: str | None) -> Run:
    run: Any = leased.run
    run.traceparent = traceparent
    run.inputs, run.credential = leased.inputs, leased.credential
    run.leaseToken, run.timeoutSeconds = leased.token, leased.timeout_seconds
    run.targetTimeoutSeconds = leased.target_timeout_seconds
    return leased.run


def _answer(run_id: UUID, may: Powers) -> Response:
    return Response(RunShape(Run.objects.get(pk=run_id), context={"may": may}).data)
