"""Change a started redrive's items and counters; `lifecycle` starts and aborts redrives.

Callers of `send`, `skip` and `end` hold the redrive's lock, then `save` in the same transaction.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from executions.public.database import connection
from executions.public.models import ExecutionState
from valkyr_plugins.redrive import statements
from valkyr_plugins.redrive.models import ItemState, Redrive, RedriveItem, RedriveState

COUNTERS = (
    "sent", "running", "succeeded", "failed_again", "skipped", "pace_since", "pace_sent", "recent",
    "settled_to", "busy",
)  # fmt: skip
MAX_REASON = 2_000
# A redrive neither blocks other processes for long nor waits for them: it handles locked rows
# later.
PATIENCE = "SET LOCAL lock_timeout = '250ms'"


@dataclass(frozen=True, slots=True)
class Queued:
    """An item to send; if `careful`, other locks must be taken before its execution's lock."""

    id: int
    entry_id: UUID
    resolution: str
    run_id: UUID
    execution_id: UUID
    step_path: str
    error_type: str
    execution_state: ExecutionState
    careful: bool


@dataclass(frozen=True, slots=True)
class Sent:
    """A sent item, its execution, and its new run (None if the execution is new)."""

    id: int
    run_id: UUID | None
    execution_id: UUID


@dataclass(frozen=True, slots=True)
class Ended:
    """An item that ended, its final state, and the ID of its new dead letter, if any."""

    id: int
    state: ItemState
    reason: str = ""
    again_id: UUID | None = None


def claimed(redrive_id: UUID) -> Redrive | None:
    """Lock and return the redrive; None if another process has locked it or it was deleted."""
    with connection.cursor() as cursor:
        cursor.execute(PATIENCE)
    rows = Redrive.objects.select_for_update(no_key=True, skip_locked=True)
    return rows.filter(pk=redrive_id).first()


def running(redrive_id: UUID) -> Redrive | None:
    """Lock and return the redrive, as `claimed` does, if it is running; otherwise None."""
    redrive = claimed(redrive_id)
    return redrive if redrive is not None and redrive.state == RedriveState.RUNNING else None


def queued(redrive: Redrive, *, after: int, most: int) -> list[Queued]:
    """Return at most `most` queued items with IDs above `after`, in order."""
    found = statements.fetch(
        "next_queued_items", {"redrive": redrive.pk, "after": after, "most": most}
    )
    return [Queued(*row) for row in found]


def send(redrive: Redrive, sent: Sequence[Sent]) -> None:
    """Move items from QUEUED to RUNNING, and add them to the redrive's counters."""
    if not sent:
        return
    moved = statements.fetch(
        "mark_items_sent",
        {
            "ids": [item.id for item in sent],
            "runs": [item.run_id for item in sent],
            "executions": [item.execution_id for item in sent],
        },
    )
    assert len(moved) == len(sent), "the redrive is locked, so nobody else moves its items"
    redrive.sent += len(sent)
    redrive.running += len(sent)
    redrive.pace_sent += len(sent)


def skip(redrive: Redrive, reasons: Sequence[tuple[int, str]]) -> None:
    """Move items from QUEUED to SKIPPED, each with its reason."""
    _end([Ended(item, ItemState.SKIPPED, reason) for item, reason in reasons])
    redrive.skipped += len(reasons)


def end(redrive: Redrive, ended: Sequence[Ended]) -> None:
    """Move items from RUNNING to their final states."""
    _end(ended)
    redrive.running -= len(ended)
    states = [item.state for item in ended]
    redrive.succeeded += states.count(ItemState.SUCCEEDED)
    redrive.failed_again += states.count(ItemState.FAILED_AGAIN)
    redrive.skipped += states.count(ItemState.SKIPPED)


def hold(item_id: int, reason: str) -> None:
    """Store why an item remains QUEUED; the reason is kept until the item is sent."""
    said = f"Held back: {reason}"[:MAX_REASON]
    queued = RedriveItem.objects.filter(pk=item_id, state=ItemState.QUEUED)
    queued.exclude(reason=said).update(reason=said)


def hold_next(redrive_id: UUID, reason: str) -> None:
    """Store the reason why a redrive's next item remains QUEUED."""
    queued = RedriveItem.objects.filter(redrive_id=redrive_id, state=ItemState.QUEUED)
    item_id = queued.order_by("id").values_list("pk", flat=True).first()
    if item_id is not None:
        hold(item_id, reason)


def held_by(redrive: Redrive) -> str:
    """Return the reason why the next item was held back; "" if it was not."""
    queued = RedriveItem.objects.filter(redrive=redrive, state=ItemState.QUEUED)
    return queued.order_by("id").values_list("reason", flat=True).first() or ""


def save(redrive: Redrive) -> None:
    """Save the redrive's counters."""
    redrive.save(update_fields=COUNTERS)


def _end(ended: Sequence[Ended]) -> None:
    if not ended:
        return
    moved = statements.fetch(
        "end_items",
        {
            "ids": [item.id for item in ended],
            "states": [str(item.state) for item in ended],
            "reasons": [item.reason[:MAX_REASON] for item in ended],
            "again": [item.again_id for item in ended],
        },
    )
    assert len(moved) == len(ended), "the redrive is locked, so nobody else moves its items"
