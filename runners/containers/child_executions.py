"""Start, cancel and list child executions, and wake the parent's run when a child has ended.

No transaction holds the locks of two executions: each message is sent after the commit, and the
sweeper does the work of lost messages.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from executions import lifecycle, payload_store, payloads
from executions.access.actor import Actor
from executions.definition.versions import compiled
from executions.errors import NotFound, PayloadError, ValkyrError, WithProblems, WrongState
from executions.models import Workflow, WorkflowExecution
from executions.payload_store import PayloadStoreUnavailable, StoredValueBroken
from executions.sealing import SealBroken
from executions.states import FINAL, ExecutionState
from executions.triggers import stored_input
from executions.triggers.request import ParentRun
from executions.triggers.start import start_child
from runners import statements
from runners.dispatch import messages
from runners.failures.classification import Failure, classify
from runners.models import Run
from runners.modules.base import Result
from runners.segment.state import SegmentState
from runners.segment.stored_results import release_connection
from runners.segment.work import Done, Unit, Work
from runners.states import ErrorType, RunState, WaitKind
from runners.waits import wake_runs

ENDED = "runners.child_ended"
CANCEL = "runners.cancel_children"
LEAVE = "runners.leave_child"
TAKES_CHILDREN_ALONG = (ExecutionState.CANCELLED, ExecutionState.TIMEOUT)
ACTOR = Actor.system("its parent execution")
BATCH = 100


def wake_parent(child_id: UUID) -> bool:
    """Wake the run that waits for this child if the child has ended; return whether a run woke."""
    child = (
        WorkflowExecution.objects.filter(
            pk=child_id, state__in=sorted(FINAL), parent_run_id__isnull=False
        )
        .only("state", "output", "error_message", "parent_id", "parent_run_id")
        .first()
    )
    if child is None or child.parent_run_id is None:
        return False
    told = {"by": "child", "executionId": str(child.pk), "state": child.state}
    try:
        return _wake(child.parent_run_id, child, told | {"error": child.error_message})
    # The output alone is not too large, but the output with the other fields is.
    except PayloadError as error:
        return wake_runs.wake(child.parent_run_id, WaitKind.CHILD, told | {"error": error.message})


def _wake(run_id: UUID, child: WorkflowExecution, told: dict[str, Any]) -> bool:
    """Wake the parent's run with the child's output; return whether the run was woken."""
    output = payloads.trusted(child.output) if payload_store.enabled() else child.output
    return wake_runs.wake(run_id, WaitKind.CHILD, told | {"output": output})


def has_unfinished(parent_id: UUID) -> bool:
    """Return whether any child of an execution is unfinished."""
    return _unfinished().filter(parent_id=parent_id).exists()


def cancel_of(parent_id: UUID) -> int:
    """Cancel an execution's children that are no longer needed; return how many were cancelled."""
    count = 0
    while found := list(abandoned().filter(parent_id=parent_id)[:BATCH]):
        cancelled = sum(cancel(child, parent) for child, parent in found)
        count += cancelled
        if not cancelled:
            break
    return count


def awaited(run_id: UUID) -> UUID | None:
    """Return the ID of the child execution that a run waited for; None if there was no child."""
    progress = (
        Run.objects.filter(pk=run_id, waits_for=WaitKind.CHILD)
        .values_list("progress", flat=True)
        .first()
    )
    return UUID(progress["executionId"]) if progress else None


def leave_awaited(run_id: UUID) -> None:
    """After the commit, cancel the child that a run waited for; a requeue starts a new child."""
    child = awaited(run_id)
    if child is not None:
        messages.tell_after_commit(LEAVE, child)


def leave(child_id: UUID) -> int:
    """Cancel a child; return 1, or 0 if it has no parent, has ended or is being undone."""
    child = WorkflowExecution.objects.filter(pk=child_id, parent__isnull=False)
    parent = child.values_list("parent_id", flat=True).first()
    return 0 if parent is None else cancel(child_id, parent)


def cancel(child_id: UUID, parent_id: UUID) -> int:
    """Cancel a child in one transaction; return 1, or 0 if it has ended or is being undone."""
    try:
        lifecycle.cancel(
            child_id, actor=ACTOR, reason=f"Its parent execution {parent_id} no longer needs it."
        )
    except WrongState:
        return 0
    return 1


def abandoned() -> QuerySet[WorkflowExecution, tuple[UUID, Any]]:
    """Return the IDs of abandoned children, each with the ID of its parent.

    A child is abandoned if its parent was cancelled or timed out, or if the run that waited for the
    child was cancelled. Children that have ended or are being undone are omitted.
    """
    undone = Run.objects.filter(pk=OuterRef("parent_run_id"), state=RunState.CANCELLED)
    return (
        _unfinished()
        .filter(compensation="")  # children that run their undo steps end without a cancellation
        .filter(Q(parent__state__in=TAKES_CHILDREN_ALONG) | Exists(undone))
        .order_by("pk")
        .values_list("pk", "parent_id")
    )


def _unfinished() -> QuerySet[WorkflowExecution]:
    return WorkflowExecution.objects.filter(parent__isnull=False, finished_at=None)


# Start a child execution in the transaction that records the step that calls another workflow.
#
# The transaction holds the lock of the parent execution. So a step that waits has a child, a step
# whose child was rejected has none, and a crash cannot cause a second child.


MAX_DEPTH = 16
MAX_PROBLEMS = 5
CALLER = Actor.system("sub-workflow")


class ChildRefused(Exception):
    """The child cannot be started; `failure` is permanent unless another failure is given."""

    def __init__(self, path: str, reason: str, failure: Failure | None = None) -> None:
        super().__init__(reason)
        self.failure = failure or Failure(
            ErrorType.PERMANENT, f"Step {path}: {reason}", "ChildRefused"
        )


@dataclass(frozen=True, slots=True)
class ChildCall:
    """The child that a step starts: an existing workflow, and the data of the parent's call."""

    workflow: Workflow
    input: Any
    version: int | None
    waits: bool
    parent: ParentRun


def look_up(state: SegmentState, work: Work, facts: Mapping[str, Any]) -> ChildCall:
    """Return the workflow and other data for starting a child; call this before taking a lock.

    Raises ChildRefused if the workflow is unknown, the nesting too deep, or the payload unusable.
    """
    slug = facts["workflow"]
    execution = (
        WorkflowExecution.objects.filter(pk=state.context.execution_id)
        .only("workspace_id", "depth", "trigger_type", "priority", "failure_of_id", "principal_id")
        .get()
    )
    if execution.depth >= MAX_DEPTH:
        raise ChildRefused(work.path, _too_deep(state, slug))
    workflow = (
        Workflow.objects.filter(workspace_id=execution.workspace_id, slug=slug, archived_at=None)
        .defer("definition")
        .first()
    )
    if workflow is None:
        raise ChildRefused(
            work.path,
            f"there is no workflow {slug!r} in this workspace. Create and publish it, or fix "
            "`workflow`.",
        )
    for version_id in (workflow.latest_version_id, workflow.canary_version_id):
        if version_id is not None:
            # Compiling is slow the first time, so do it before the lock is taken.
            compiled(version_id)
    waits = bool(facts.get("wait", True))
    return ChildCall(
        workflow=workflow,
        input=_input(execution.workspace_id, facts.get("input", {}), work),
        version=facts.get("version"),
        waits=waits,
        parent=ParentRun(
            execution_id=state.context.execution_id,
            depth=execution.depth,
            trigger_type=execution.trigger_type,
            priority=execution.priority,
            failure_of=execution.failure_of_id,
            run_id=work.run_id if waits else None,
            principal_id=execution.principal_id,
        ),
    )


def _input(workspace_id: UUID, value: Any, work: Work) -> Any:
    """Return the child's payload; store a large payload, and pass on a reference unchanged.

    Raises ChildRefused if the payload cannot be read or stored.
    """
    try:
        given = stored_input.from_row(workspace_id, value)
        return stored_input.stored(workspace_id, given, release_connection)
    except PayloadStoreUnavailable as error:
        raise ChildRefused(work.path, str(error), classify(error)) from error
    except (StoredValueBroken, SealBroken) as error:
        raise ChildRefused(work.path, str(error)) from error


def start(call: ChildCall, work: Work) -> UUID:
    """Start the child and return its ID. Raises ChildRefused if it cannot be started.

    The caller holds the parent's lock.
    """
    try:
        child = start_child(
            call.workflow,
            call.input,
            parent=call.parent,
            key=f"child:{work.run_id}",
            actor=CALLER,
            version=call.version,
        )
    except NotFound as error:
        raise ChildRefused(work.path, str(error)) from error
    except ValkyrError as error:
        raise ChildRefused(
            work.path,
            f"workflow {call.workflow.slug!r} rejected the child execution. {_told(error)}",
        ) from error
    return child.pk


def noted(call: ChildCall, child: UUID) -> dict[str, Any]:
    """Return the data about the child that is stored with the waiting run and that users see."""
    return {
        "workflow": call.workflow.slug,
        "version": call.version,
        "executionId": str(child),
    }


def detached(state: SegmentState, work: Work, unit: Unit, child: UUID) -> Unit:
    """Return the unit to record for a step that ends as soon as its child has started."""
    assert work.prepared is not None
    result = Result({"executionId": str(child)})
    state.ended(work.step, result.outcome, result.outputs)
    text = f'{{"executionId":"{child}"}}'
    milliseconds, logs = unit.milliseconds, unit.logs
    return Unit(Done(work.step, state.place, work.prepared, result, text, milliseconds, logs))


def _told(error: ValkyrError) -> str:
    problems = error.problems if isinstance(error, WithProblems) else []
    named = "; ".join(f"{item.path}: {item.message}" for item in problems[:MAX_PROBLEMS])
    more = len(problems) - MAX_PROBLEMS
    return f"{error}{' ' + named if named else ''}{f' (and {more} more)' if more > 0 else ''}"


def _too_deep(state: SegmentState, slug: str) -> str:
    rows = statements.fetch("ancestors", {"execution": state.context.execution_id})
    chain = " > ".join([*(name for (name,) in rows), slug])
    return (
        f"workflows call each other {MAX_DEPTH + 1} deep, and at most {MAX_DEPTH} are allowed: "
        f"{chain}. If one calls itself, give it a condition on which it ends."
    )


# Find the child executions that an execution's steps started.


SUBWORKFLOW = "flow.subworkflow"


@dataclass(frozen=True, slots=True)
class Child:
    """The ID and state of a child execution, and the name of its workflow."""

    id: UUID
    state: str
    workflow: str


def children_of(execution_id: UUID, runs: Iterable[Run]) -> dict[UUID, Child]:
    """Return the children that these runs of one execution started, keyed by run ID.

    Uses at most one query. Reads `progress` of the runs that call a workflow, so load this field
    with the runs.
    """
    calls = {run.pk: run.progress or {} for run in runs if run.module == SUBWORKFLOW}
    if not calls:
        return {}
    # `calling` starts children under these keys. Searching by key also finds detached children.
    by_key = {f"child:{pk}": pk for pk in calls}
    by_child = {facts["executionId"]: pk for pk, facts in calls.items() if "executionId" in facts}
    found = WorkflowExecution.objects.filter(
        Q(pk__in=list(by_child)) | Q(parent_id=execution_id, idempotency_key__in=list(by_key))
    ).values_list("pk", "state", "workflow__name", "idempotency_key")
    made: dict[UUID, Child] = {}
    for pk, state, workflow, key in found:
        run: Any = by_child.get(str(pk)) or by_key.get(key or "")
        if run is not None:
            made[run] = Child(pk, state, workflow)
    return made
