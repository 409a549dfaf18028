"""The endpoint of figures."""

from typing import Any

from django.db.models import Q, QuerySet

# ruff: noqa: N815 - the names are the JSON's
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from dlq.public.models import DeadLetterEntry, Resolution
from executions.public.access import Action, Reach, Scope, obtain, reach_of, sees_all, visible
from executions.public.api import (
    BOUND,
    Body,
    CamelCase,
    CamelCaseSerializer,
    Endpoint,
    bounded_count,
    operation,
)
from executions.public.database import database_now, hurried, in_states, replica
from executions.public.models import Workflow, WorkflowExecution
from runners.public.circuits import open_circuits
from runners.public.models import Run, Runner
from runners.public.queues import Queue, queues
from valkyr_plugins.figures.ranges import DEFAULT, RANGES, range_named
from valkyr_plugins.figures.reading import Figures, read
from valkyr_plugins.figures.tally import Histogram, Tally

# Figures as JSON.


UP_TO = f"Counted up to {BOUND:,}."


class FiguresQuery(Body):
    """The query parameters of `getFigures`."""

    range = serializers.ChoiceField(
        [(one.name, f"the last {one.title}") for one in RANGES.values()],
        required=False,
        default=DEFAULT,
    )
    workspaceId = serializers.UUIDField(required=False)
    workflowId = serializers.UUIDField(required=False)


class LengthsShape(CamelCaseSerializer):
    """Percentiles of durations in ms, accurate to 12.2 %; null if there are no durations."""

    count = serializers.IntegerField()
    p50 = serializers.FloatField(allow_null=True)
    p95 = serializers.FloatField(allow_null=True)
    p99 = serializers.FloatField(allow_null=True)

    def to_representation(self, instance: Histogram) -> dict[str, Any]:
        """Return a histogram's count and percentiles as JSON."""
        shares = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
        found = {name: instance.percentile(share) for name, share in shares.items()}
        rounded = {name: None if ms is None else round(ms, 1) for name, ms in found.items()}
        return {"count": instance.total, **rounded}


class NumbersShape(CamelCaseSerializer):
    """Counts for a period: of executions, of failed attempts, and of dead letters."""

    created = serializers.IntegerField(help_text="Requested executions.")
    succeeded = serializers.IntegerField()
    failed = serializers.IntegerField()
    timed_out = serializers.IntegerField()
    cancelled = serializers.IntegerField()
    failure_rate = serializers.FloatField(
        allow_null=True,
        help_text="0 to 1: the share of failed and timed-out executions among those not "
        "cancelled; null if none ended.",
    )
    failed_attempts = serializers.IntegerField(
        help_text=("Failed attempts of steps, without dead letters.")
    )
    dead_letters = serializers.IntegerField(help_text="Steps that became dead letters.")


class TallyShape(NumbersShape):
    """Counts of executions, their durations, and the waiting times of attempts."""

    durationMs = LengthsShape(
        source="durations", help_text="Durations of executions, from start to end."
    )
    dispatchMs = LengthsShape(
        source="dispatches",
        help_text="Waiting times of attempts for a worker, in a sample of executions.",
    )


class SlotShape(TallyShape):
    """The counts and durations of one slot of the range."""

    starts_at = serializers.DateTimeField()

    def to_representation(self, instance: Any) -> dict[str, Any]:
        """Return a pair of a slot's start and tally as JSON."""
        starts_at, tally = instance
        shown = TallyShape(tally).data
        return {"startsAt": self.fields["startsAt"].to_representation(starts_at), **shown}


class QueueShape(CamelCase, serializers.Serializer[Queue]):
    """The steps of one queue that are waiting for a worker."""

    name = serializers.CharField()
    waiting = serializers.IntegerField()
    oldestAt = serializers.DateTimeField(
        source="oldest", allow_null=True, help_text="When the oldest waiting step became ready."
    )
    workers = serializers.IntegerField(help_text="The number of live workers that serve the queue.")
    capped = serializers.BooleanField(help_text="Whether more steps wait than were counted.")


class FiguresShape(CamelCaseSerializer):
    """The figures of a range, and current counts, such as the waiting steps of each queue."""

    range = serializers.CharField()
    since = serializers.DateTimeField(
        help_text="The start of the range. The last slot of the range is not complete."
    )
    until = serializers.DateTimeField()
    slotSeconds = serializers.IntegerField()
    capped = serializers.BooleanField(
        help_text=(
            "Whether the numbers are too low, because more executions ended than are counted."
        )
    )
    uncountedHours = serializers.IntegerField(
        help_text="Hours that are not counted yet and appear empty."
    )
    total = TallyShape()
    before = NumbersShape(help_text="Figures of the previous period of the same length.")
    slots = SlotShape(many=True)
    running = serializers.IntegerField(help_text=f"Current executions. {UP_TO}")
    waiting = serializers.IntegerField(help_text=f"Executions that wait for a slot. {UP_TO}")
    openDeadLetters = serializers.IntegerField(help_text=UP_TO)
    openCircuits = serializers.IntegerField(help_text=f"Of the workspaces. {UP_TO}")
    queues = QueueShape(many=True)

    def to_representation(self, instance: dict[str, Any]) -> dict[str, Any]:
        """Return the figures and the current counts as JSON."""
        figures: Figures = instance["figures"]
        window = figures.window
        slots: list[tuple[Any, Tally]] = list(zip(window.starts(), figures.slots, strict=True))
        flat = {
            "range": window.range.name,
            "since": window.start,
            "until": window.now,
            "slotSeconds": int(window.range.slot.total_seconds()),
            "capped": figures.capped,
            "uncountedHours": figures.uncounted,
            "total": figures.total,
            "before": figures.before,
            "slots": slots,
        }
        return super().to_representation(instance | flat)


# Figures of executions over time and of current waits, for external dashboards.


MOST_RUNNERS = 1_000


class FiguresOf(Endpoint):
    """The endpoint that returns the figures of workflows that the caller may view."""

    @operation(
        "getFigures", "Figures", {200: FiguresShape}, parameters=[FiguresQuery], errors=[403, 404]
    )
    def get(self, request: Request) -> Response:
        """Return executions by state, failure rates and percentiles per slot, and waiting steps.

        Only objects that you may view are counted, so other users may get other numbers. Returns
        503 if the numbers are not available in time.
        """
        query = self.query(FiguresQuery)
        reach = reach_of(self.user)
        now = database_now()
        scope, only = self._scope(query, reach)
        of_execution = {f"execution__{key}": value for key, value in only.items()}
        in_workspace = {key: value for key, value in only.items() if key == "workspace_id"}
        pending = DeadLetterEntry.objects.filter(resolution=Resolution.PENDING, **only)
        executions = visible(self.user, WorkflowExecution.objects.filter(**only), reach=reach)
        runs = visible(self.user, Run.objects.filter(**of_execution), reach=reach)
        letters = visible(self.user, pending, reach=reach)
        circuits: QuerySet[Any] | None = None
        if open_circuits.provided:
            circuits = visible(self.user, open_circuits().filter(**in_workspace), reach=reach)

        def counted() -> dict[str, Any]:
            with hurried():
                return {
                    "figures": read(scope, range_named(query["range"]), now),
                    "running": bounded_count(executions.filter(in_states("RUNNING"))),
                    "waiting": bounded_count(executions.filter(in_states("PENDING"))),
                    "openDeadLetters": bounded_count(letters),
                    "openCircuits": 0 if circuits is None else bounded_count(circuits),
                    "queues": queues(runs, self._runners(reach), now),
                }

        return Response(FiguresShape(replica.read(request, counted)).data)

    def _scope(self, query: dict[str, Any], reach: Reach) -> tuple[Scope, dict[str, Any]]:
        """Return the scope of the counted executions, and the matching filter for rows."""
        scope = Scope.of(self.user, reach)
        workflow_id, workspace_id = query.get("workflowId"), query.get("workspaceId")
        if workflow_id is not None:
            row, _ = obtain(self.user, Workflow.objects.all(), workflow_id, Action.VIEW)
            only = {"workflow_id": row.pk, "workspace_id": workspace_id or row.workspace_id}
            elsewhere = only["workspace_id"] != row.workspace_id
            return Scope() if elsewhere else scope.of_workflow(row.pk), only
        if workspace_id is not None:
            return scope.of_workspace(workspace_id), {"workspace_id": workspace_id}
        return scope, {}

    def _runners(self, reach: Reach) -> QuerySet[Runner]:
        """Return at most 1,000 runners that the caller may view, the most recently seen first."""
        rows = Runner.objects.order_by("-seen_at")
        if not sees_all(self.user):
            mine = reach.workspaces(Action.VIEW)
            rows = rows.filter(Q(workspace=None) | Q(workspace__in=mine))
        return rows[:MOST_RUNNERS]
