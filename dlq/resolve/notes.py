"""Write users' notes on a dead letter."""

from uuid import UUID

from dlq.models import DeadLetterEntry
from dlq.resolve import transitions
from executions.access.actor import Actor, record
from executions.database import transaction


def write_notes(entry_id: UUID, notes: str, *, actor: Actor) -> DeadLetterEntry:
    """Replace the notes of a dead letter, open or resolved; the audit trail keeps the old ones.

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
