"""Plan whole executions from their rows, for example after a resume or for the sweeper."""

from uuid import UUID

from executions.database import transaction
from executions.definition.versions import compiled
from executions.models import WorkflowExecution
from runners import statements
from runners.conf import config
from runners.dispatch import messages
from runners.dispatch.canvas import Chain, Parcel, SegmentLink
from runners.planning import finish
from runners.segment import execution_lock
from runners.segment.state import SegmentState, from_rows

UNDER_WAY = ("RUNNING", "PAUSED")


def advance(execution_id: UUID) -> bool:
    """Start every ready step, or end the execution; a second call changes nothing.

    Returns whether the execution was running or paused.
    """
    with transaction.atomic():
        state = locked(execution_id)
        if state is None:
            return False
        finish.settle_or_end(state)
    if state.loads_output:
        _end_with_stored_output(state)
    return True


def catch_up(execution_id: UUID) -> bool:
    """Plan as `advance` does; return whether a step was started or the execution ended."""
    with transaction.atomic():
        state = locked(execution_id)
        if state is None:
            return False
        moved = finish.settle_or_end(state)
    if state.loads_output:
        _end_with_stored_output(state)
    return moved


def _end_with_stored_output(state: SegmentState) -> None:
    """Load the stored values that the workflow's output reads, then end the execution.

    While the store is unavailable, the execution does not change, and the sweeper tries again.
    """
    finish.load_output(state)
    with transaction.atomic():
        again = locked(state.context.execution_id)
        if again is None or again.context.epoch != state.context.epoch:
            return
        again.data = state.data
        finish.settle_or_end(again)


def wake(execution_id: UUID) -> None:
    """Send the due pending runs of an execution again, and plan the execution."""
    with transaction.atomic():
        state = locked(execution_id)
        if state is None:
            return
        send_pending(state)
        finish.settle_or_end(state)


def insert_first(execution: WorkflowExecution) -> None:
    """Insert the first runs of a new execution that has recorded steps, without ending it."""
    version = compiled(execution.version_id)
    state = from_rows(execution.pk, version, execution.epoch, execution.priority)
    state.paused = True
    finish.settle_or_end(state)


def send_pending(state: SegmentState) -> None:
    """Send the due pending runs of a locked execution again, after the commit."""
    graph = state.graph
    waiting = statements.fetch(
        "mark_pending_runs_sent",
        {"execution": state.context.execution_id, "patience": config().patience},
    )
    canvas = tuple(
        Chain((SegmentLink(segment, queue, f"{graph.name}: {path}"),))
        for segment, queue, path in waiting
    )
    if canvas:
        messages.publish_after_commit(
            [
                Parcel(
                    state.context.execution_id,
                    state.context.version.id,
                    state.context.priority,
                    canvas,
                )
            ]
        )


def locked(execution_id: UUID) -> SegmentState | None:
    """Lock a running or paused execution and return its state; None if it is in another state."""
    row = statements.fetch_one("lock", {"execution": execution_id})
    if row is None or row[0] not in UNDER_WAY:
        return None
    execution_state, epoch, priority, version_id, _, _ = row
    state = from_rows(execution_id, compiled(version_id), epoch, priority)
    execution_lock.note_state(state, execution_state)
    return state
