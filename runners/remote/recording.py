"""A run that a remote runner holds is recorded as any other, by whoever has its report in hand.

Nobody carries its segment on: whatever follows is sent to workers, or waits for remote runners.
"""

from dataclasses import dataclass

from django.db import transaction

from runners import statements
from runners.errors import LeaseLost
from runners.pipeline import record_result
from runners.segment import execution_lock
from runners.segment.state import SegmentState
from runners.segment.work import Unit, Work


@dataclass(frozen=True, slots=True)
class Held:
    """What is known of a run whose lease was seen to hold: its inputs' hash, key, time worked."""

    inputs_hash: str
    key: str
    milliseconds: float


def record(state: SegmentState, work: Work, unit: Unit) -> None:
    """Record a unit under the lease; nothing where the lease was lost meanwhile."""
    try:
        with transaction.atomic():
            if hold(state, work) is not None:
                record_result.record(state, work, unit)
    except LeaseLost:
        return


def hold(state: SegmentState, work: Work) -> Held | None:
    """Lock the execution and then the run, as begun; None when the lease is over.

    Needs a transaction that is open.
    """
    locked = statements.fetch_one("lock", {"execution": state.context.execution_id})
    if locked is None or locked[0] not in ("RUNNING", "PAUSED") or locked[1] != state.context.epoch:
        return None
    execution_lock.note_state(state, locked[0])
    row = statements.fetch_one("remote_hold", {"run": work.run_id, "token": work.token})
    if row is None:
        return None
    work.holder = row[0]
    return Held(*row[1:])
