"""The execution's lock: whoever plans its next steps, writes its variables or ends it holds it."""

from typing import Any

from runners import statements
from runners.errors import LeaseLost
from runners.segment.state import Journey


def lock(journey: Journey) -> None:
    """Hold the execution to the end of the transaction. Raises LeaseLost."""
    check(journey, statements.fetch_one(*asked(journey)))


def asked(journey: Journey) -> tuple[str, dict[str, Any]]:
    """The statement that locks, for who runs others with it."""
    return "lock", {"execution": journey.execution_id}


def check(journey: Journey, row: tuple[Any, ...] | None) -> None:
    """Raise LeaseLost unless what was locked goes on in this epoch."""
    if row is None or row[0] not in ("RUNNING", "PAUSED") or row[1] != journey.epoch:
        raise LeaseLost(f"execution {journey.execution_id} is over, or was rolled back")
    note_state(journey, row[0])


def note_state(journey: Journey, state: str) -> None:
    """Remember whether the locked execution is paused: a paused one cannot end."""
    journey.paused = state == "PAUSED"
