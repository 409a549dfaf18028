"""The execution's lock: needed to plan from rows, write variables or end the execution."""

from functools import partial
from typing import Any

from executions.database import transaction
from executions.definition.templates import Template
from executions.definition.templating import render_guard
from runners import statements
from runners.dispatch import messages
from runners.errors import LeaseLost
from runners.segment.state import SegmentState


def lock(state: SegmentState) -> None:
    """Lock the execution until the end of the transaction.

    Raises LeaseLost unless the execution is live, in this epoch and on this version.
    """
    check(state, statements.fetch_one(*asked(state)))


def asked(state: SegmentState) -> tuple[str, dict[str, Any]]:
    """Return the name and parameters of the statement that locks the execution."""
    return "lock", {"execution": state.context.execution_id}


def check(state: SegmentState, row: tuple[Any, ...] | None) -> None:
    """Raise LeaseLost unless the locked execution is live, in this epoch and on this version."""
    if row is None or row[0] not in ("RUNNING", "PAUSED") or row[1] != state.context.epoch:
        raise LeaseLost(f"execution {state.context.execution_id} has ended or was rolled back")
    if row[3] != state.context.version.id:
        raise LeaseLost(f"execution {state.context.execution_id} was moved to another version")
    note_state(state, row[0])


def note_state(state: SegmentState, execution_state: str) -> None:
    """Record whether the locked execution is paused; planning does not end a paused execution."""
    state.paused = execution_state == "PAUSED"


# Leave planning to a worker if a template would be rendered during a request.
#
# Decisions that need no template are made at once. If a loop's condition or the workflow's output
# must be rendered, the rest is left undecided, and a worker plans the execution from its rows.


def left_to_worker(state: SegmentState, template: Template | None) -> bool:
    """Return whether `template` must not be rendered here.

    If so, after the commit, send a message that asks a worker to plan the execution. If the message
    is lost, the sweeper plans the execution.
    """
    if template is None or template.constant or render_guard.renders_here():
        return False
    if not state.left_to_worker:
        state.left_to_worker = True
        transaction.on_commit(partial(messages.advance, state.context.execution_id), robust=True)
    return True
