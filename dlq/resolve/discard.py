"""Discard dead letters, including those of rolled-back runs; restore, annotate and pin them."""

from typing import Any
from uuid import UUID

from django.dispatch import receiver

from dlq.models import DeadLetterEntry, Resolution
from dlq.resolve import transitions
from executions.access.actor import Actor, record
from executions.database import transaction
from executions.events import execution_rolled_back


def discard(entry_id: UUID, *, actor: Actor, notes: str = "") -> DeadLetterEntry:
    """Discard a dead letter. No step runs again, and the execution's state does not change.

    Raises NotFound, or WrongState if the dead letter is already resolved.
    """
    entry = transitions.find(entry_id)
    with transaction.atomic():
        transitions.resolve(entry, Resolution.DISCARDED, actor=actor, notes=notes)
    return transitions.find(entry_id)


def restore(entry_id: UUID, *, actor: Actor, reason: str = "") -> DeadLetterEntry:
    """Reopen a discarded dead letter that still exists. Raises NotFound or WrongState."""
    entry = transitions.find(entry_id)
    with transaction.atomic():
        transitions.restore(entry, actor=actor, reason=reason)
    return transitions.find(entry_id)


def pin(entry_id: UUID, *, actor: Actor, reason: str = "") -> DeadLetterEntry:
    """Exclude a dead letter from retention; do nothing if it is already pinned. Raises NotFound."""
    return _pinned(entry_id, True, actor, reason)


def unpin(entry_id: UUID, *, actor: Actor, reason: str = "") -> DeadLetterEntry:
    """Unpin a dead letter, so that retention applies to it again. Raises NotFound."""
    return _pinned(entry_id, False, actor, reason)


def write_notes(entry_id: UUID, notes: str, *, actor: Actor) -> DeadLetterEntry:
    """Replace the notes of an open or resolved dead letter; the audit trail keeps the old notes.

    Raises NotFound.
    """
    entry = transitions.find(entry_id)
    with transaction.atomic():
        rows = DeadLetterEntry.objects.select_for_update().filter(pk=entry_id)
        before = rows.values("notes").get()
        if before["notes"] != notes:
            rows.update(notes=notes)
            record(
                actor,
                "dead_letter.note",
                workspace_id=entry.workspace_id,
                object_type=DeadLetterEntry.AUDITED_AS,
                object_id=entry_id,
                before=before,
                after={"notes": notes},
            )
    return transitions.find(entry_id)


def _pinned(entry_id: UUID, wanted: bool, actor: Actor, reason: str) -> DeadLetterEntry:
    entry = transitions.find(entry_id)
    with transaction.atomic():
        rows = DeadLetterEntry.objects.filter(pk=entry_id, pinned=not wanted)
        if rows.update(pinned=wanted):
            record(
                actor,
                "dead_letter.pinned" if wanted else "dead_letter.unpinned",
                workspace_id=entry.workspace_id,
                object_type=DeadLetterEntry.AUDITED_AS,
                object_id=entry_id,
                reason=reason,
                before={"pinned": not wanted},
                after={"pinned": wanted},
            )
    return transitions.find(entry_id)


# A roll-back to a point before a dead run supersedes the run, so the run's dead letter is closed.


@receiver(execution_rolled_back)
def close_rolled_back(sender: Any, execution_id: UUID, actor: Actor, label: str, **_: Any) -> None:
    """Discard the open dead letters of the runs that a roll-back superseded."""
    transitions.discard_superseded(
        execution_id, actor=actor, note=f"The execution was rolled back to {label}."
    )
