"""Find the open dead letters of runs, name the fields to reveal, and record a first view."""

from collections.abc import Sequence
from uuid import UUID

from django.http import HttpRequest

from dlq.models import DeadLetterEntry
from dlq.models.entry import Resolution
from executions.database.clock import database_now
from runners.ports import open_dead_letters


@open_dead_letters.provide
def open_letters(run_ids: Sequence[UUID]) -> dict[UUID, UUID]:
    """Return the IDs of the open dead letters of these runs, keyed by run ID."""
    found = DeadLetterEntry.objects.filter(run_id__in=run_ids, resolution=Resolution.PENDING)
    return dict(found.values_list("run_id", "id"))


# Record the first view of a dead letter's page, which shows that a user has opened it.


def note_first_look(request: HttpRequest, entry: DeadLetterEntry) -> None:
    """Record the first view of a dead letter; ignore prefetches and requests other than GET."""
    if entry.seen_at is not None or request.method != "GET" or _ahead(request):
        return
    now = database_now()
    if DeadLetterEntry.objects.filter(pk=entry.pk, seen_at=None).update(seen_at=now):
        entry.seen_at = now


def _ahead(request: HttpRequest) -> bool:
    headers = request.headers
    told = (headers.get("Sec-Purpose", ""), headers.get("Purpose", ""), headers.get("X-Moz", ""))
    return any("prefetch" in text or "prerender" in text for text in told)


# The attributes of a dead letter that can be revealed, by their API names.


REVEALED_FIELDS = {"originalInputs": "original_inputs", "originalConfig": "original_config"}
