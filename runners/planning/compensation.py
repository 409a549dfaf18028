"""Undo an execution step by step, as its rows determine, under the execution's lock.

Undo steps are runs of the execution like any other, such as `refine[2].undo:charge.main`. Each one
is inserted when the previous one has ended; the last one, or one that fails, ends the execution.
"""

import logging
from functools import partial
from uuid import UUID

from executions import compensation
from executions.database import transaction
from executions.definition.graph.model import AUTOMATIC, Graph
from executions.definition.graph.places import find, undo_path
from executions.definition.graph.undo import (
    UndoMove,
    UndoPlan,
    UndoStatus,
    next_undo,
    status,
)
from executions.states import CompensationState
from runners import statements
from runners.containers import child_executions
from runners.dispatch import messages
from runners.observability import metrics
from runners.segment import run_rows
from runners.segment.state import SegmentState

log = logging.getLogger(__name__)

UNDER_WAY = (CompensationState.WAITING, CompensationState.RUNNING)


def figures(execution_id: UUID) -> object:
    """Return the figures to store with an execution when it ends."""
    row = statements.fetch_one("execution_figures", {"execution": execution_id})
    return row[0] if row else None


def has_live_run(execution_id: UUID) -> bool:
    """Return whether the execution has a live run, except containers that wait for their bodies."""
    row = statements.fetch_one("has_live_run", {"execution": execution_id})
    return bool(row and row[0])


def stop(execution_id: UUID, undone: frozenset[UUID]) -> bool:
    """End an execution's live runs if it has steps to undo; return whether it has such steps.

    Running steps that have an undo are not ended. See `ports.stop_to_undo`.
    """
    asked = {"execution": execution_id, "undone": list(undone)}
    row = statements.fetch_one("has_steps_to_undo", asked)
    if not (row and row[0]):
        return False
    statements.fetch("cancel_live_runs", {"execution": execution_id, "spared": list(undone)})
    if child_executions.has_unfinished(execution_id):
        messages.tell_after_commit(child_executions.CANCEL, execution_id)
    transaction.on_commit(partial(messages.advance, execution_id), robust=True)
    metrics.compensated("begun")
    log.info("execution %s will be undone", execution_id)
    return True


def fail(state: SegmentState, message: str, trace: str) -> bool:
    """Undo a failed execution, unless a user must request the undo; return whether it begins."""
    graph = state.context.version.graph
    if not graph.undone or graph.compensation != AUTOMATIC:
        return False
    if not compensation.fail(state.context.execution_id, message=message, trace=trace):
        return False
    go_on(state)
    return True


def go_on(state: SegmentState) -> bool | None:
    """Start the next undo step, or end the execution after the last one or a permanent failure.

    Return True if a step started or the execution ended, False if the undo must wait, or None if
    the execution is not being undone. The caller holds the execution's lock.
    """
    if not state.context.version.graph.undone:
        return None
    execution_id = state.context.execution_id
    row = statements.fetch_one("compensation_state", {"execution": execution_id})
    if row is None or row[0] not in UNDER_WAY:
        return None
    if row[0] == CompensationState.WAITING and not _proceeds(state):
        return False
    if state.paused or has_live_run(execution_id):
        return False
    graph, epoch = state.context.version.graph, state.context.epoch
    _move(state, next_undo(remaining(execution_id, epoch, graph, 1)))
    return True


def waiting(batch: int) -> list[UUID]:
    """Return the IDs of at most `batch` executions whose undo can now begin."""
    found = statements.fetch("executions_ready_to_undo", {"execution": None, "batch": batch})
    return [pk for (pk,) in found]


def _proceeds(state: SegmentState) -> bool:
    """Begin the undo, unless a step or child that may have to be undone too is still running.

    Return whether it began.
    """
    execution_id = state.context.execution_id
    if not statements.fetch("executions_ready_to_undo", {"execution": execution_id, "batch": 1}):
        return False
    statements.fetch("cancel_live_runs", {"execution": execution_id, "spared": []})
    compensation.proceed(execution_id)
    state.paused = False
    return True


def remaining(
    execution_id: UUID, epoch: int, graph: Graph, most: int
) -> list[tuple[str, UndoStatus]]:
    """Return the paths and the states of the next undo steps, at most `most`, in order."""
    found = statements.fetch(
        "next_tasks_to_undo",
        {
            "execution": execution_id,
            "epoch": epoch,
            "undone": list(graph.undone),
            "most": most,
        },
    )
    return [(undo_path(path), status(states)) for path, states in found]


def _move(state: SegmentState, plan: UndoPlan) -> None:
    execution_id = state.context.execution_id
    match plan.move:
        case UndoMove.START:
            _start(state, plan.path)
        case UndoMove.STOP:
            log.error("execution %s: undo step %s failed permanently", execution_id, plan.path)
            metrics.compensated("failed")
            compensation.end(execution_id, failed=True, metrics=figures(execution_id))
        case UndoMove.END:
            log.info("execution %s is undone", execution_id)
            metrics.compensated("done")
            compensation.end(execution_id, failed=False, metrics=figures(execution_id))


def _start(state: SegmentState, path: str) -> None:
    context = state.context
    place, step = find(context.version.graph, path)
    run_rows.insert(state, [run_rows.pending(step, place.prefix)])
    messages.publish_after_commit(
        [
            messages.parcel(
                context.execution_id, context.version.id, context.priority, place, [step.index]
            )
        ]
    )
