"""Runs, an execution's timeline, and the payloads of one run, revealed for a recorded reason."""

# ruff: noqa: N815 - the names are the JSON's
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import QuerySet, Value
from django.db.models.fields.json import KT
from django.db.models.functions import StrIndex, Substr
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from executions.access import Action, obtain, visible
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.api.fields import CamelCase, CamelCaseSerializer, Json
from executions.api.modules import CONTAINERS
from executions.api.paging import PageQuery, narrowed, page
from executions.api.reveal import Reveal, RevealReason
from executions.database.by_state import in_states
from executions.database.clock import database_now, first_id_at
from executions.definition.catalog import catalog
from executions.definition.graph.iterations import LoopTurns, MapTurns
from executions.definition.graph.places import split
from executions.models import WorkflowExecution
from runners.api.run_shapes import ERROR_TYPES, STATES, WAITS, RunQuery, RunShape, RunSummary
from runners.containers.child_executions import children_of
from runners.models import Run

# The runs of an execution's timeline as JSON, and the filters for them.


MAX_TIMELINE = 5000


class Counters(CamelCaseSerializer):
    """The progress of a container: a loop's current iteration, or the counts of a map's items."""

    iteration = serializers.IntegerField(
        required=False, help_text="The current iteration of a loop, from 1."
    )
    count = serializers.IntegerField(
        required=False,
        allow_null=True,
        help_text=("The number of iterations; null if a condition decides."),
    )
    most = serializers.IntegerField(
        required=False,
        allow_null=True,
        help_text=("The maximum number of iterations, if a condition decides."),
    )
    total = serializers.IntegerField(required=False, help_text="The number of a map's items.")
    done = serializers.IntegerField(
        required=False, help_text="The number of ended items, successful or not."
    )
    open = serializers.IntegerField(required=False, help_text="The number of items in progress.")
    failedItem = serializers.IntegerField(
        required=False, allow_null=True, help_text="The item whose failure ends the map."
    )


class Bar(CamelCase, serializers.ModelSerializer[Run]):
    """One attempt of one step, as a bar on the time axis."""

    step_path = serializers.CharField()
    place = serializers.SerializerMethodField(
        help_text=(
            'The iteration that contains the step, such as "refine[2]."; "" for the workflow '
            "itself."
        )
    )
    task_id = serializers.UUIDField()
    container = serializers.SerializerMethodField(
        help_text="Whether it is a loop or a map, whose body's steps have their own bars."
    )
    state = serializers.ChoiceField(STATES)
    queued_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(
        allow_null=True, help_text="When it began, before any wait."
    )
    finished_at = serializers.DateTimeField(allow_null=True)
    duration_ms = serializers.FloatField(allow_null=True)
    error_type = serializers.ChoiceField(ERROR_TYPES, allow_blank=True)
    waits_for = serializers.ChoiceField(
        WAITS, help_text='What the run waits or waited for; "" for nothing.'
    )
    waitedMs = serializers.SerializerMethodField(
        help_text="Waiting time since `startedAt`, including the current wait."
    )
    waitsUntil = serializers.SerializerMethodField(
        help_text="When it continues automatically; null if it does not."
    )
    progress = serializers.SerializerMethodField()
    childExecutionId = serializers.SerializerMethodField()
    cached_from = serializers.UUIDField(
        allow_null=True, help_text="The run whose result it reused."
    )

    class Meta:
        model = Run
        fields = [
            "id", "step_path", "place", "task_id", "module", "container", "attempt", "state",
            "queued_at", "started_at", "finished_at", "duration_ms", "outcome", "error_type",
            "waits_for", "waitedMs", "waitsUntil", "progress", "childExecutionId", "cached_from",
            "superseded",
        ]  # fmt: skip

    def get_place(self, run: Run) -> str:
        """Return the step's place, such as `refine[2].`; "" for the workflow's own steps."""
        return split(run.step_path)[0]

    @extend_schema_field(serializers.ChoiceField(CONTAINERS))
    def get_container(self, run: Run) -> str:
        """Return the kind of container; "" if the run's module is not a container."""
        spec = catalog().get(run.module)
        return spec.container if spec else ""

    def get_waitedMs(self, run: Run) -> float | None:  # noqa: N802 - the field's name
        """Return how many milliseconds the run has waited in total; None if it never waited."""
        if not run.waits_for or run.started_at is None:
            return None
        noted = getattr(run, "waited_seconds", None)
        if noted is not None:
            return 1_000 * float(noted)
        until = run.finished_at or self.context["now"]
        return float(1_000 * (until - run.started_at).total_seconds())

    def get_waitsUntil(self, run: Run) -> datetime | None:  # noqa: N802 - the field's name
        """Return when a waiting run's timer or time limit ends; None if there is no such time."""
        return run.due_at if run.state == "WAITING" else None

    @extend_schema_field(Counters(allow_null=True))
    def get_progress(self, run: Run) -> dict[str, Any] | None:
        """Return a container's counters; None for other runs, or if no counters are stored."""
        return counters(run.progress) if run.waits_for == "body" and run.progress else None

    def get_childExecutionId(self, run: Run) -> UUID | None:  # noqa: N802 - the field's name
        """Return the ID of the execution that the run started; None if it started none."""
        child = self.context["children"].get(run.pk)
        return child.id if child else None


def counters(document: dict[str, Any]) -> dict[str, Any]:
    """Return a container's counters as `Counters`."""
    if "total" not in document:
        loop = LoopTurns.read(document)
        return {"iteration": loop.index + 1, "count": loop.count, "most": loop.most or None}
    items = MapTurns.read(document)
    return {
        "total": items.total,
        "done": items.next - len(items.open) - len(items.spare),
        "open": len(items.open),
        "failedItem": items.failed,
    }


class TimelineQuery(PageQuery):
    """The query parameters of a timeline; by default, a page has at most 5,000 bars."""

    limit: Any = serializers.IntegerField(
        required=False, default=MAX_TIMELINE, min_value=1, max_value=MAX_TIMELINE
    )
    place = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=1000,
        help_text='The beginning of step paths: "refine[2]." is one iteration, "batch[" all items.',
    )
    nested = serializers.BooleanField(
        required=False,
        default=True,
        help_text="Whether to include the steps of nested bodies.",
    )
    superseded = serializers.BooleanField(
        required=False, default=False, help_text="Whether to include rolled-back attempts."
    )


# Columns that lists do not read, because they can be large. `error` is short, so lists read it.
HIDDEN = ("overrides", "heartbeat_details")
LARGE = ("inputs", "outputs", "progress", "wake", "logs", "error_details", *HIDDEN)
BAR = (
    "id", "execution_id", "step_path", "task_id", "module", "attempt", "state", "queued_at",
    "started_at", "finished_at", "duration_ms", "outcome", "error_type", "waits_for", "due_at",
    "progress", "cached_from", "superseded",
)  # fmt: skip
FILTERS = {
    "executionId": "execution_id",
    "taskId": "task_id",
    "place": "step_path__startswith",
    "queuedAfter": "queued_at__gt",
    "queuedBefore": "queued_at__lt",
}
# IDs increase with time, so the primary key orders a list that has no filter.
BY_ID = ("id",)
# The maximum difference between the clock of a process that creates IDs and the database's clock.
CLOCKS_APART = timedelta(minutes=5)


class Runs(Endpoint):
    """The list of runs that the user may see."""

    @operation("listRuns", "Run", {200: RunSummary(many=True)}, parameters=[RunQuery])
    def get(self, request: Request) -> Response:
        """List the runs of your workspaces, newest first, without large fields."""
        query = self.query(RunQuery)
        rows = narrowed(visible(self.user, Run.objects.all()), query, FILTERS)
        if "state" in query:
            rows = rows.filter(in_states(query["state"]))
        rows = _queued(rows, query).defer(*LARGE)
        found = page(request, rows, query, order=BY_ID)
        return Response(RunSummary(found.rows, many=True).data, headers=found.headers)


class OneRun(Endpoint):
    """The endpoint that returns a run."""

    @operation("getRun", "Run", {200: RunShape}, errors=[403, 404])
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """Return one run with its payloads, log and error details."""
        shown = [field.name for field in Run._meta.fields if field.name not in HIDDEN]
        rows = Run.objects.select_related("execution").only(
            *shown, "execution__workspace_id", "execution__workflow_id"
        )
        run, may = obtain(self.user, rows, id, Action.VIEW)
        return Response(RunShape(run, context={"may": may}).data)


class Timeline(Endpoint):
    """The endpoint that returns the bars of an execution's timeline."""

    @operation(
        "getWorkflowExecutionTimeline",
        "WorkflowExecution",
        {200: Bar(many=True)},
        errors=[403, 404],
        parameters=[TimelineQuery],
    )
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Return the attempts of the execution's steps, in the order in which they were queued."""
        rows = WorkflowExecution.objects.only("id", "workspace_id", "workflow_id")
        obtain(self.user, rows, id, Action.VIEW)
        query = self.query(TimelineQuery)
        order = ("queued_at", "id")
        # Read from the primary, because live viewers join these rows with rows from the primary.
        found = page(request, bars(id, query), query, order=order, ascending=True, fresh=True)
        context = {"now": database_now(), "children": children_of(id, found.rows)}
        shown = Bar(found.rows, many=True, context=context)
        return Response(shown.data, headers=found.headers)


def _queued(rows: QuerySet[Run], query: dict[str, Any]) -> QuerySet[Run]:
    """Narrow runs by queue time, to within five minutes, through their IDs, which have an index."""
    if "queuedAfter" in query:
        rows = rows.filter(pk__gte=first_id_at(query["queuedAfter"], -CLOCKS_APART))
    if "queuedBefore" in query:
        rows = rows.filter(pk__lt=first_id_at(query["queuedBefore"], CLOCKS_APART))
    return rows


def bars(execution_id: UUID, query: dict[str, Any]) -> QuerySet[Run]:
    """Return the runs that a timeline's query selects, with only the columns that bars need."""
    # Of the data that ended a wait, read only the duration, because a payload can be large.
    rows = (
        Run.objects.filter(execution_id=execution_id)
        .only(*BAR)
        .annotate(waited_seconds=KT("wake__waitedSeconds"))
    )
    if not query["superseded"]:
        rows = rows.filter(superseded=False)
    if query["place"]:
        rows = rows.filter(step_path__startswith=query["place"])
    if not query["nested"]:
        rest = Substr("step_path", len(query["place"]) + 1)
        rows = rows.annotate(inside=StrIndex(rest, Value("["))).filter(inside=0)
    return rows


# Reveal a run's payloads to users with the permission, for a recorded reason.


# For each API name of a revealed payload: the run's attribute.
FIELDS = {name: name for name in ("inputs", "outputs", "overrides", "wake", "logs")}


class RevealedRun(CamelCaseSerializer):
    """The payloads of a run, unmasked."""

    id = serializers.UUIDField()
    inputs = Json(allow_null=True)
    outputs = Json(allow_null=True)
    overrides = Json(allow_null=True)
    wake = Json(allow_null=True)
    logs = Json(allow_null=True)


class RevealRun(Reveal):
    """The endpoint that reveals the payloads of a run."""

    @operation("revealRun", "Run", {200: RevealedRun}, request=RevealReason, errors=[403, 404])
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """Return inputs, outputs, overrides, logs and wake-up data unmasked.

        Requires the permission `reveal`. Each use is recorded with its reason.
        """
        rows = Run.objects.select_related("execution").only(
            "id", "execution", "execution__workspace_id", "execution__workflow_id"
        )
        return self.revealed(rows, id, FIELDS, RevealedRun)
