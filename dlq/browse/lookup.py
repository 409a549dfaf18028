"""Which dead runs have an open dead letter: asked by the engine to explain an execution."""

from collections.abc import Sequence
from uuid import UUID

from dlq.models import DeadLetterEntry
from dlq.models.entry import Resolution
from runners.ports import open_dead_letters


@open_dead_letters.provide
def open_letters(run_ids: Sequence[UUID]) -> dict[UUID, UUID]:
    """Return the open dead letters of these runs, by run."""
    found = DeadLetterEntry.objects.filter(run_id__in=run_ids, resolution=Resolution.PENDING)
    return dict(found.values_list("run_id", "id"))
