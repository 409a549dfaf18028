"""Start executions over HTTP: one, a batch, or one as a queue item."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from executions import addresses
from executions.access import (
    AccessChange,
    Action,
    Base,
    Powers,
    User,
    check_change,
    let_through,
    obtain,
)
from executions.access.powers import NO_MEMBER, Member
from executions.api.documentation import header, operation
from executions.api.endpoint import Endpoint
from executions.api.executions import (
    QueuedShape,
    QueuedStart,
    QueueItemShape,
    Start,
    StartBatch,
    StartedBatch,
    WorkflowExecutionShape,
)
from executions.api.idempotency import idempotency_key
from executions.database import ahead, alias
from executions.database.statements import BoundStatement, asked
from executions.models import Workflow, WorkflowExecution
from executions.quotas.limits import query_of
from executions.triggers.start import Started, start_batch, start_execution
from executions.triggers.stored_input import stored

KEY = header(
    "Idempotency-Key",
    "A request with the same key and body returns the first execution; another body gets a "
    "409. At most 200 visible characters.",
)


_COLUMNS = [
    field.attname
    for field in Workflow._meta.concrete_fields
    if field.name not in {"definition", "description", "origin", "origin_line"}
]


# The workspaces of recently started workflows, used only to guess which limits to prefetch. The
# workspace of a workflow is always read.
_guesses: dict[UUID, UUID] = {}
MOST_GUESSES = 10_000


def startable(workflow_id: UUID, user: User) -> tuple[Workflow | None, Member]:
    """Return the workflow without its draft, and the user's role and permissions in its workspace.

    The workflow is None if it is missing or archived.
    """
    wanted, *likely = _wanted(workflow_id, user.pk)
    rows = ahead.fetch(wanted, likely)
    if not rows:
        return None, NO_MEMBER
    *columns, role, given = rows[0]
    workflow = Workflow.from_db(alias(), _COLUMNS, columns)
    if len(_guesses) >= MOST_GUESSES:
        _guesses.clear()
    _guesses[workflow_id] = workflow.workspace_id
    return workflow, (role, given)


def _wanted(workflow_id: UUID, user_id: Any) -> list[BoundStatement]:
    """Return the queries for the workflow and, if its workspace is known, for the limits there."""
    found = [asked("workflow_for_api_start", {"id": workflow_id, "user": user_id})]
    if (workspace_id := _guesses.get(workflow_id)) is not None:
        found.append(query_of(workspace_id, user_id).statement)
    return found


class Starting(Endpoint):
    """The base of endpoints that start executions of the workflow in their URL."""

    starts = True
    names = "workflowId"  # the URL parameter with the workflow's ID

    def likely(self, user_id: Any) -> Sequence[BoundStatement]:
        """Return the queries for the workflow and, if its workspace is known, the limits there."""
        return _wanted(self.kwargs[self.names], user_id)

    def workflow(self, pk: UUID, action: Action = Action.TRIGGER) -> tuple[Workflow, Powers]:
        """Return the workflow and the caller's powers on it. Raises NotFound or Forbidden."""
        workflow, member = startable(pk, self.user)
        return let_through(self.user, workflow, action, f"workflow {pk}", member=member)

    def check_version(self, workflow: Workflow, may: Powers, number: int | None) -> None:
        """Raise Forbidden for a version other than the latest, unless the caller may start it."""
        if number is None or may.allows(Action.OPERATE):
            return
        latest = Workflow.objects.filter(pk=workflow.pk, latest_version__number=number)
        if not latest.exists():
            check_change(may, AccessChange(Base.OTHER))


class Execute(Starting):
    """The endpoint that starts one execution."""

    @operation(
        "executeWorkflow",
        "WorkflowExecution",
        {202: WorkflowExecutionShape},
        request=Start,
        errors=[403, 404, 409, 429],
        parameters=[KEY],
    )
    def post(self, request: Request, workflowId: UUID) -> Response:  # noqa: N803 - the path's name
        """Accept an execution of the given version; by default, of the latest or canary version.

        If `version` is not the latest version, the request requires permission to *operate*.
        """
        workflow, may = self.workflow(workflowId)
        given = self.body(Start)
        self.check_version(workflow, may, given.get("version"))
        started: Started = start_execution(
            workflow,
            given["params"],
            actor=self.actor,
            priority=given.get("priority"),
            version=given.get("version"),
            idempotency_key=idempotency_key(request),
        )
        return Response(
            WorkflowExecutionShape(started.execution, context={"may": may}).data,
            202,
            headers={"Location": addresses.api("execution", started.execution.pk)},
        )


class ExecuteBatch(Starting):
    """The endpoint that starts many executions, either all of them or none."""

    ready: list[Any] | None = None  # the payloads, of which large ones are stored

    def before_once(self, request: Request, workflowId: UUID) -> None:  # noqa: N803
        """Store large payloads before the request's transaction, in which they cannot be stored."""
        workflow, _ = self.workflow(workflowId)
        given = self.body(StartBatch)["payloads"]
        self.ready = [stored(workflow.workspace_id, payload) for payload in given]

    @operation(
        "executeWorkflowBatch",
        "WorkflowExecution",
        {202: StartedBatch},
        request=StartBatch,
        errors=[403, 404, 409, 429],
        idempotent=True,
    )
    def post(self, request: Request, workflowId: UUID) -> Response:  # noqa: N803
        """Accept up to 1,000 executions in one transaction, in the payloads' order.

        If `version` is not the latest version, the request requires permission to *operate*.
        """
        workflow, may = self.workflow(workflowId)
        given = self.body(StartBatch)
        self.check_version(workflow, may, given.get("version"))
        started = start_batch(
            workflow,
            given["payloads"] if self.ready is None else self.ready,
            actor=self.actor,
            priority=given.get("priority"),
            version=given.get("version"),
        )
        return Response({"ids": [str(execution.pk) for execution in started]}, 202)


class StartByQueue(Endpoint):
    """The endpoint that starts one execution, and returns it as a queue item."""

    starts = True

    @operation(
        "startExecution",
        "Queue",
        {202: QueuedShape},
        request=QueuedStart,
        errors=[403, 404, 409, 429],
        parameters=[KEY],
    )
    def post(self, request: Request) -> Response:
        """Start an execution. Returns 404 if the workflow is not in the given workspace."""
        given = self.body(QueuedStart)
        pk = given["workflowDefinitionId"]
        found, member = startable(pk, self.user)
        if found is not None and found.workspace_id != given["workspaceId"]:
            found = None
        workflow, _ = let_through(self.user, found, Action.TRIGGER, f"workflow {pk}", member=member)
        started = start_execution(
            workflow,
            given["input"],
            actor=self.actor,
            idempotency_key=idempotency_key(request),
        )
        return Response(QueuedShape(started.execution).data, 202)


class QueueItem(Endpoint):
    """The endpoint that returns the state of a queue item."""

    @operation("getQueueItem", "Queue", {200: QueueItemShape}, errors=[403, 404])
    def get(self, request: Request, queueId: UUID) -> Response:  # noqa: N803
        """Return a start's state: PENDING, DISPATCHED (admitted) or FAILED (never admitted)."""
        rows = WorkflowExecution.objects.only(
            "id", "workspace_id", "workflow_id", "state", "started_at"
        )
        execution, _ = obtain(self.user, rows, queueId, Action.TRIGGER)
        return Response(QueueItemShape(execution).data)
