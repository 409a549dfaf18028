"""Start, end and wake runs when executions change, and deliver events to waiting runs."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.dispatch import receiver

from executions.admission.capacity import Admitted
from executions.database.statements import BoundStatement
from executions.definition.graph.places import Place
from executions.definition.versions import compiled
from executions.events import (
    event_received,
    execution_ended,
    execution_resumed,
    execution_rolled_back,
    execution_roused,
)
from executions.models import WorkflowExecution
from executions.ports import begin, end_runs, failed_step, first_runs, stop_to_undo
from runners import statements
from runners.conf import config
from runners.containers import child_executions
from runners.dispatch import messages
from runners.dispatch.canvas import Canvas, Parcel
from runners.planning import compensation, plan_execution
from runners.segment import run_rows
from runners.waits.events import announce


@begin.provide
def begin_admitted(executions: Sequence[Admitted]) -> None:
    """Wake executions that already have runs, and end new executions that have no tasks.

    Forks and reopened executions already have runs.
    """
    for item in executions:
        if not item.fresh:
            plan_execution.wake(item.execution_id)
        elif not compiled(item.version_id).graph.tasks:
            plan_execution.advance(item.execution_id)


@first_runs.provide
def insert_first_runs(executions: Sequence[Admitted]) -> list[BoundStatement]:
    """Return the statement that inserts the first runs of new executions, in a list; [] if none.

    The runs are sent after the commit.
    """
    parts: list[str] = []
    parcels: list[Parcel] = []
    canvas: dict[UUID, tuple[Canvas, ...]] = {}  # equal for all executions of one version
    for item in executions:
        graph = compiled(item.version_id).graph
        if not graph.tasks:
            continue
        owner = (
            f'{{"execution":"{item.execution_id}","epoch":{item.epoch},"priority":{item.priority},'
        )
        ready = [graph.tasks[task].steps[0] for task in graph.roots]
        parts += [owner + run_rows.pending(graph.steps[i], "")[1:] for i in ready]
        if item.version_id not in canvas:
            canvas[item.version_id] = messages.arranged(item.version_id, Place("", graph), ready)
        parcels.append(
            Parcel(item.execution_id, item.version_id, item.priority, canvas[item.version_id])
        )
    messages.publish_after_commit(parcels)
    if not parts:
        return []
    rows = {
        "rows": f"[{','.join(parts)}]",
        "patience": config().patience,
        "executions": [item.execution_id for item in executions],
    }
    return [statements.asked("insert", rows)]


@end_runs.provide
def end_live_runs(execution_id: UUID) -> Any:
    """End the live runs of an execution that has ended; return the execution's figures."""
    statements.fetch("cancel_live_runs", {"execution": execution_id, "spared": []})
    return compensation.figures(execution_id)


@stop_to_undo.provide
def stop_what_is_to_be_undone(execution_id: UUID) -> bool:
    """End the live runs of an execution that must be undone, except running steps with an undo.

    Return False if there is no step to undo.
    """
    version_id = WorkflowExecution.objects.values_list("version_id", flat=True).get(pk=execution_id)
    return compensation.stop(execution_id, compiled(version_id).graph.undone)


@receiver(execution_resumed)
def wake(sender: Any, execution_id: UUID, **_: Any) -> None:
    """Send the runs that waited during a pause, or end the execution if its last step has ended."""
    plan_execution.wake(execution_id)


@receiver(event_received)
def deliver(sender: Any, event_id: UUID, **_: Any) -> None:
    """Deliver the event to the runs that wait for it."""
    announce(event_id)


@receiver(execution_roused)
def request_slot(sender: Any, execution_ids: list[UUID], **_: Any) -> None:
    """Send the runs that woke while their execution had no slot."""
    for execution_id in execution_ids:
        plan_execution.wake(execution_id)


@failed_step.provide
def step_that_failed(execution_id: UUID) -> dict[str, str] | None:
    """Return the path and error type of an execution's dead step; None if no step is dead.

    If several steps are dead, return the one that ended last.
    """
    row = statements.fetch_one("last_dead_step", {"execution": execution_id})
    return None if row is None else {"step": row[0], "type": row[1]}


@receiver(execution_ended)
def tell_family(
    sender: Any, execution_id: UUID, state: str, parent_run_id: UUID | None, **_: Any
) -> None:
    """Ask workers to wake the parent's waiting run, and to cancel the execution's children.

    Children are cancelled only if the execution was cancelled or timed out. Workers handle each
    message later, without this execution's lock.
    """
    if parent_run_id is not None:
        messages.tell(child_executions.ENDED, execution_id)
    if state in child_executions.TAKES_CHILDREN_ALONG and child_executions.has_unfinished(
        execution_id
    ):
        messages.tell(child_executions.CANCEL, execution_id)


@receiver(execution_rolled_back)
def forget_children(sender: Any, execution_id: UUID, **_: Any) -> None:
    """Cancel the children of steps that a roll-back superseded."""
    if child_executions.has_unfinished(execution_id):
        messages.tell_after_commit(child_executions.CANCEL, execution_id)
