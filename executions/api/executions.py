"""Executions: list, read, cancel, pause, resume and undo them."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.db.models import F, QuerySet, Subquery

# ruff: noqa: N815 - the names are the JSON's
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from executions import ports, replica
from executions.access import Action, Powers, obtain, visible
from executions.access.actor import record
from executions.access.operation import Operation
from executions.api import merged_lists
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.api.fields import Body, CamelCaseSerializer, Flat, Json, Payload, Text, Whole
from executions.api.labels import ABOUT_LABEL, LabelsField
from executions.api.paging import (
    KeysetPage,
    ListQuery,
    end_of,
    narrowed,
    next_link,
    page,
    position,
)
from executions.database.by_state import in_states
from executions.definition.versions import compiled
from executions.errors import NotFound
from executions.labels import finding
from executions.lifecycle import CANCEL, PAUSE, RESUME, UNDO
from executions.models import Workflow, WorkflowExecution, WorkflowVersion
from executions.states import ExecutionState, TriggerType, VersionKind

MAX_BATCH = 1000
QUEUE_STATES = [(name, name.lower()) for name in ("PENDING", "DISPATCHED", "FAILED")]


class WorkflowExecutionSummary(Flat, serializers.ModelSerializer[WorkflowExecution]):
    """An execution in a list, without its payload, variables, output and stack trace."""

    workspace_id = serializers.UUIDField()
    workflow_id = serializers.UUIDField()
    version = serializers.SerializerMethodField()
    test = serializers.SerializerMethodField()
    state = serializers.ChoiceField(ExecutionState.choices)
    trigger_type = serializers.ChoiceField(TriggerType.choices)
    parentExecutionId = serializers.UUIDField(source="parent_id", allow_null=True)
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)
    error_message = serializers.CharField()
    metrics_snapshot = Json(allow_null=True)
    trace_id = serializers.CharField()
    concurrency_key = serializers.CharField(allow_null=True)
    labels = serializers.SerializerMethodField()
    failureOfExecutionId = serializers.UUIDField(
        source="failure_of_id",
        allow_null=True,
        help_text="The failed execution for which this execution of an error workflow was started.",
    )

    class Meta:
        model = WorkflowExecution
        fields = [
            "id", "workspace_id", "workflow_id", "version", "test", "state", "priority",
            "trigger_type", "parentExecutionId", "created_at", "started_at", "finished_at",
            "error_message", "metrics_snapshot", "trace_id", "concurrency_key",
            "labels", "failureOfExecutionId", "compensation", "ending",
        ]  # fmt: skip

    @extend_schema_field(serializers.DictField(child=serializers.CharField()))
    def get_labels(self, execution: WorkflowExecution) -> dict[str, str]:
        """Return the execution's labels: values by name."""
        return execution.labels or {}

    def get_version(self, execution: WorkflowExecution) -> int:
        """Return the number of the version that the execution runs."""
        if hasattr(execution, "version_number"):
            number: int = execution.version_number
            return number
        return compiled(execution.version_id).number

    def get_test(self, execution: WorkflowExecution) -> bool:
        """Return whether the execution is a test run."""
        if hasattr(execution, "version_kind"):
            kind: str = execution.version_kind
            return kind == VersionKind.TEST
        return compiled(execution.version_id).test


class WorkflowExecutionShape(WorkflowExecutionSummary):
    """An execution with its payload, variables and output; administrators see its stack trace."""

    trigger_payload = Payload(allow_null=True)
    context_data = Payload()
    output = Payload(allow_null=True)
    errorStackTrace = serializers.SerializerMethodField()
    archivedAt = serializers.DateTimeField(
        source="archived_at",
        allow_null=True,
        read_only=True,
        help_text="When it was archived; null if it is in the database.",
    )

    class Meta(WorkflowExecutionSummary.Meta):
        fields = [
            *WorkflowExecutionSummary.Meta.fields,
            "trigger_payload", "context_data", "output", "errorStackTrace", "archivedAt",
        ]  # fmt: skip

    def get_errorStackTrace(  # noqa: N802 - the JSON's name
        self, execution: WorkflowExecution
    ) -> str | None:
        """Return the stack trace; null unless the caller is an administrator."""
        may: Powers = self.context["may"]
        return execution.error_stack_trace if may.allows(Action.ADMINISTER) else None


class Start(Flat, Body):
    """The body of `executeWorkflow`."""

    params = Json(required=False, default=dict, allow_null=True, help_text="The payload.")
    priority = Whole(required=False, allow_null=True, min_value=0, max_value=9)
    version = Whole(required=False, allow_null=True, min_value=1, max_value=2**31 - 1)


class StartBatch(Body):
    """The body of `executeWorkflowBatch`."""

    payloads = serializers.ListField(child=Json(allow_null=True), max_length=MAX_BATCH)
    priority = Whole(required=False, allow_null=True, min_value=0, max_value=9)
    version = Whole(required=False, allow_null=True, min_value=1, max_value=2**31 - 1)


class StartedBatch(CamelCaseSerializer):
    """The IDs of the started executions, in the order of the payloads."""

    ids = serializers.ListField(child=serializers.UUIDField())


class ExecutionQuery(ListQuery):
    """The query parameters of `listWorkflowExecutions`: filters, order and page."""

    workflowId = serializers.UUIDField(required=False)
    version = Whole(
        required=False, min_value=1, max_value=2**31 - 1, help_text="Requires `workflowId`."
    )
    state = serializers.ChoiceField(ExecutionState.choices, required=False)
    triggerType = serializers.ChoiceField(TriggerType.choices, required=False)
    test = serializers.BooleanField(
        required=False, help_text="true: only test runs; false: all except test runs."
    )
    label = LabelsField(  # type: ignore[assignment] # a field, not its own label
        required=False,
        help_text=f"{ABOUT_LABEL} Ordered by ID, which begins with the time.",
    )
    createdAfter = serializers.DateTimeField(required=False)
    createdBefore = serializers.DateTimeField(required=False)


class Reason(Body):
    """The body of an operation on an execution: a reason for the audit trail."""

    reason = Text(required=False, default="", allow_blank=True, max_length=2000)


class QueuedStart(Body):
    """The body of `startExecution`."""

    workflowDefinitionId = serializers.UUIDField()
    workspaceId = serializers.UUIDField()
    input = Json(required=False, default=dict, allow_null=True)


class QueuedShape(CamelCaseSerializer):
    """An accepted start as a queue item, whose ID is the ID of the execution."""

    queueId = serializers.UUIDField(source="id")
    status = serializers.SerializerMethodField()

    @extend_schema_field(serializers.ChoiceField(QUEUE_STATES))
    def get_status(self, execution: WorkflowExecution) -> str:
        """Return a start's state: PENDING, DISPATCHED (admitted) or FAILED (never admitted)."""
        if execution.state == ExecutionState.PENDING:
            return "PENDING"
        return "DISPATCHED" if execution.started_at else "FAILED"


class QueueItemShape(QueuedShape):
    """A queue item with the ID of its execution."""

    executionId = serializers.UUIDField(source="id")


LARGE = ("trigger_payload", "context_data", "output", "error_stack_trace")
FILTERS = {
    "workflowId": "workflow_id",
    "version": "version__number",
    "triggerType": "trigger_type",
    "createdAfter": "created_at__gt",
    "createdBefore": "created_at__lt",
}


def executions() -> QuerySet[WorkflowExecution]:
    """Return all executions, each with the number and kind of its version."""
    return WorkflowExecution.objects.annotate(
        version_number=F("version__number"), version_kind=F("version__kind")
    )


def tests(rows: QuerySet[WorkflowExecution]) -> QuerySet[WorkflowExecution]:
    """Return the test runs among the rows.

    A test run is never older than the oldest test version, so the search in a large table ends at
    that age.
    """
    oldest = WorkflowVersion.objects.filter(kind=VersionKind.TEST).order_by("created_at")
    since = Subquery(oldest.values("created_at")[:1])
    return rows.filter(version__kind=VersionKind.TEST, created_at__gte=since)


class Executions(Endpoint):
    """The endpoint that lists executions."""

    @operation(
        "listWorkflowExecutions",
        "WorkflowExecution",
        {200: WorkflowExecutionSummary(many=True)},
        parameters=[ExecutionQuery],
    )
    def get(self, request: Request) -> Response:
        """List the executions of your workspaces, newest first, without payloads and outputs."""
        query = self.query(ExecutionQuery)
        rows = narrowed(visible(self.user, executions()), query, FILTERS).defer(*LARGE)
        if "state" in query:
            rows = rows.filter(in_states(query["state"]))
        if "test" in query:
            rows = tests(rows) if query["test"] else rows.exclude(version__kind=VersionKind.TEST)
        found = self._labelled(rows, query) if "label" in query else page(request, rows, query)
        shape = WorkflowExecutionSummary(found.rows, many=True)
        return Response(shape.data, headers=found.headers)

    def _labelled(self, rows: QuerySet[WorkflowExecution], query: dict[str, Any]) -> KeysetPage:
        """Return one page of executions that have the labels; a short page may have a next page."""
        seen = visible(self.user, Workflow.objects.all())
        workflows = narrowed(seen, query, {"workflowId": "pk"})
        keyset, after = position(rows, query)
        above, below = finding.created_within(query.get("createdAfter"), query.get("createdBefore"))
        if after is not None and keyset.ascending:
            above = max(above, after)
        elif after is not None:
            below = min(below, after)
        wanted = finding.LabelQuery(
            query["label"],
            workflows,
            states=[query["state"]] if "state" in query else (),
            ascending=keyset.ascending,
            above=above,
            below=below,
        )

        def read() -> KeysetPage:
            found = finding.newest(rows, wanted, query["limit"])
            ids = found.ids
            listed = list(rows.filter(pk__in=ids).order_by(*keyset.ordering)) if ids else []
            merged_lists.note(keyset, listed, end_of(found.reached), query["limit"])
            return KeysetPage(listed, next_link(self.request, keyset, found.reached))

        return replica.read(self.request, read)


class OneExecution(Endpoint):
    """The endpoint that returns one execution."""

    @operation(
        "getWorkflowExecution",
        "WorkflowExecution",
        {200: WorkflowExecutionShape},
        errors=[403, 404],
    )
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Return one execution in full; `archivedAt` is set if the execution is in the archive."""
        try:
            execution, may = obtain(self.user, executions(), id, Action.VIEW)
        except NotFound:
            if not ports.archived_execution.provided:
                raise
            execution, may = self._archived(id)
        return Response(WorkflowExecutionShape(execution, context={"may": may}).data)

    def _archived(self, pk: UUID) -> tuple[WorkflowExecution, Powers]:
        """Return an archived execution and the caller's powers on it; record the access.

        Raises NotFound, Forbidden and ArchiveUnavailable.
        """
        execution, may = ports.archived_execution(self.user, pk, Action.VIEW)
        record(
            self.actor,
            "archive.open",
            workspace_id=execution.workspace_id,
            object_type="WorkflowExecution",
            object_id=pk,
        )
        return execution, may


class Move(Endpoint):
    """The base of endpoints that change an execution's state."""

    move: Operation
    urgent = True

    def _moved(self, pk: UUID) -> Response:
        rows = executions().defer(*LARGE)
        execution, may = self.perform(self.move, rows, pk, Reason)
        return Response(WorkflowExecutionShape(execution, context={"may": may}).data)


def _described(name: str) -> Callable[[Any], Any]:
    return operation(
        f"{name}WorkflowExecution",
        "WorkflowExecution",
        {200: WorkflowExecutionShape},
        request=Reason,
        errors=[403, 404, 409],
    )


class Cancel(Move):
    """The endpoint that cancels an execution."""

    move = CANCEL

    @_described("cancel")
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Cancel an execution: running steps are notified, and only undo steps still start."""
        return self._moved(id)


class Pause(Move):
    """The endpoint that pauses an execution."""

    move = PAUSE

    @_described("pause")
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Pause an execution: no new step starts; running steps finish and are recorded."""
        return self._moved(id)


class Undo(Move):
    """The endpoint that undoes a failed execution."""

    move = UNDO

    @_described("undo")
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Undo a FAILED execution: the undo steps of its successful steps run, newest first.

        Use it for workflows with `settings.compensation: manual`. Afterwards, only a failed undo
        step of the execution can be requeued.
        """
        return self._moved(id)


class Resume(Move):
    """The endpoint that resumes an execution."""

    move = RESUME

    @_described("resume")
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Resume a paused execution from where it stopped."""
        return self._moved(id)
