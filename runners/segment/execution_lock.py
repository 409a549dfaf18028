"""The execution's lock: whoever plans its next steps, writes its variables or ends it holds it."""

from typing import Any

from runners import statements
from runners.errors import LeaseLost
from runners.segment.state import SegmentState


def lock(state: SegmentState) -> None:
    """Hold the execution to the end of the transaction. Raises LeaseLost."""
    check(state, statements.fetch_one(*asked(state)))


def asked(state: SegmentState) -> tuple[str, dict[str, Any]]:
    """The statement that locks, for who runs others with it."""
    return "lock", {"execution": state.context.execution_id}


def check(state: SegmentState, row: tuple[Any, ...] | None) -> None:
    """Raise LeaseLost unless what was locked goes on in this epoch."""
    if row is None or row[0] not in ("RUNNING", "PAUSED") or row[1] != state.context.epoch:
        raise LeaseLost(f"execution {state.context.execution_id} is over, or was rolled back")
    note_state(state, row[0])


def note_state(state: SegmentState, execution_state: str) -> None:
    """Remember whether the locked execution is paused: a paused one cannot end."""
    state.paused = execution_state == "PAUSED"
