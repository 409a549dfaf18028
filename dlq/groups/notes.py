"""What people write under a failure group, one line after another."""

from uuid import UUID

from django.db import transaction

from dlq.groups.errors import BadTerms
from dlq.groups.locking import locked
from dlq.models import FailureGroup, GroupNote
from executions.access.actor import Actor, record

LONGEST = 10_000


def add(group_id: UUID, text: str, *, actor: Actor) -> GroupNote:
    """Write a note. Raises NotFound, WrongState if merged, BadTerms for one that is no text."""
    text = text.strip()
    if not 0 < len(text) <= LONGEST:
        raise BadTerms(f"A note has 1 to {LONGEST:,} characters; this one has {len(text):,}.")
    with transaction.atomic():
        group = locked(group_id)
        note = GroupNote.objects.create(
            group=group, author_id=actor.user_id, author_name=actor.name[:200], text=text
        )
        record(
            actor,
            "group.note",
            workspace_id=group.workspace_id,
            object_type=FailureGroup.AUDITED_AS,
            object_id=group.pk,
            details={"noteId": str(note.pk)},
        )
    note.refresh_from_db(fields=["at"])
    return note
