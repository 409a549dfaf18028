"""What operators decide about a dead letter other than sending it home."""

from uuid import UUID

from django.db import transaction

from dlq import lifecycle
from dlq.models import DeadLetterEntry, Resolution
from executions.actor import Actor


def discard(entry_id: UUID, *, actor: Actor, notes: str = "") -> DeadLetterEntry:
    """Let it rest: nothing runs again; the execution stays as it is, FAILED or about to be.

    Raises NotFound, WrongState when it is resolved already.
    """
    entry = lifecycle.find(entry_id)
    with transaction.atomic():
        lifecycle.resolve(entry, Resolution.DISCARDED, actor=actor, notes=notes)
    return lifecycle.find(entry_id)
