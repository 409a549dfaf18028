"""Tells those below which dead runs have an open dead letter."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.dispatch import receiver

from dlq.models import DeadLetterEntry
from dlq.models.entry import Resolution
from runners.events import letters_sought


@receiver(letters_sought)
def open_letters(sender: Any, run_ids: Sequence[UUID], **_: Any) -> dict[UUID, UUID]:
    """The open dead letters of these runs, by run."""
    found = DeadLetterEntry.objects.filter(run_id__in=run_ids, resolution=Resolution.PENDING)
    return dict(found.values_list("run_id", "id"))
