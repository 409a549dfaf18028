"""A step calls another workflow: its child execution is started with the step's own record.

Both are one transaction under the parent's lock, so a step that sleeps has a child, a step whose
child was refused has none, and no crash in between starts a second one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from executions.access.actor import Actor
from executions.definition.versions import compiled
from executions.errors import NotFound, ValkyrError, WithProblems
from executions.models import Workflow, WorkflowExecution
from executions.triggers.request import ParentRun
from executions.triggers.start import start_child
from runners import statements
from runners.failures.classification import Failure
from runners.modules.base import Result
from runners.segment.state import SegmentState
from runners.segment.work import Done, Unit, Work
from runners.states import ErrorType

MAX_DEPTH = 16
MAX_PROBLEMS = 5
ACTOR = Actor.system("sub-workflow")


class ChildRefused(Exception):
    """The child cannot be started; `failure` is why, for good."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(reason)
        self.failure = Failure(ErrorType.PERMANENT, f"Step {path}: {reason}", "ChildRefused")


@dataclass(frozen=True, slots=True)
class ChildCall:
    """What a step asks for: a workflow that exists, and the parent's side of the child."""

    workflow: Workflow
    input: Any
    version: int | None
    waits: bool
    parent: ParentRun


def look_up(state: SegmentState, work: Work, facts: Mapping[str, Any]) -> ChildCall:
    """What the step asks for, looked up before anything is locked; raises Refused."""
    slug = facts["workflow"]
    execution = (
        WorkflowExecution.objects.filter(pk=state.context.execution_id)
        .only("workspace_id", "depth", "trigger_type", "priority", "failure_of_id")
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
            f"there is no workflow {slug!r} in this workspace. Create and publish it, or mend "
            "`workflow`.",
        )
    if workflow.latest_version_id is not None:
        compiled(workflow.latest_version_id)  # the first time takes long: not under a lock
    waits = bool(facts.get("wait", True))
    return ChildCall(
        workflow=workflow,
        input=facts.get("input", {}),
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


def start(call: ChildCall, work: Work) -> UUID:
    """Start the child; its id. The caller holds the parent's lock. Raises Refused."""
    try:
        child = start_child(
            call.workflow,
            call.input,
            parent=call.parent,
            key=f"child:{work.run_id}",
            actor=ACTOR,
            version=call.version,
        )
    except NotFound as error:
        raise ChildRefused(work.path, str(error)) from error
    except ValkyrError as error:
        raise ChildRefused(
            work.path, f"workflow {call.workflow.slug!r} refused the child. {_told(error)}"
        ) from error
    return child.pk


def noted(call: ChildCall, child: UUID) -> dict[str, Any]:
    """What is kept with a run that waits for a child, and shown to people."""
    return {
        "workflow": call.workflow.slug,
        "version": call.version,
        "executionId": str(child),
    }


def detached(state: SegmentState, work: Work, unit: Unit, child: UUID) -> Unit:
    """The unit of a step that is done as soon as its child is started."""
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
