"""Answer the engine's queries about redrives, and handle its signals.

Retention deletes finished and aborted redrives, but never a dead letter that a redrive holds.
"""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.dispatch import receiver

from dlq.public.events import groups_merging, stopped_redrives
from dlq.public.metrics import BOUND, TRIAGE, Family
from dlq.public.retention import HOLDS, Aged, LetterHold, add_kind
from executions.public.configuration import read
from executions.public.database import delete_without_cascade
from valkyr_plugins.redrive.conf import RedriveSettings
from valkyr_plugins.redrive.models import FINAL, Redrive, RedriveItem, RedriveState


def keep_days() -> float:
    """Return the retention of finished and aborted redrives, in days; 0 means forever."""
    return read(RedriveSettings).keep_redrives_days


def _over(before: datetime) -> QuerySet[Redrive]:
    return Redrive.objects.filter(state__in=sorted(FINAL), busy=False, finished_at__lt=before)


def _delete_items(redrives: Sequence[Any], most: int) -> int:
    items = RedriveItem.objects.filter(redrive_id__in=redrives)
    return delete_without_cascade(RedriveItem.objects.filter(pk__in=items.values("pk")[:most]))


def running(now: datetime) -> Iterator[Family]:
    """Yield the metric of running redrives, counted up to a limit."""
    number = Redrive.objects.filter(busy=True, state=RedriveState.RUNNING)[:BOUND].count()
    yield Family("valkyr_redrives_running", "Running redrives.", number)


@receiver(groups_merging)
def follow_merged_groups(sender: Any, group_id: UUID, merged_ids: Sequence[UUID], **_: Any) -> None:
    """Move the redrives of merged groups to the group that remains.

    The merge locks the groups afterwards, so redrives are locked before groups here too.
    """
    Redrive.objects.filter(group_id__in=merged_ids).update(group_id=group_id)


@stopped_redrives.provide
def stopped_of(ids: Collection[UUID]) -> set[UUID]:
    """Return those of the IDs whose redrive stopped after too many failures. Uses one query."""
    rows = Redrive.objects.filter(pk__in=ids, state=RedriveState.STOPPED)
    return set(rows.values_list("pk", flat=True))


add_kind(
    Aged("redrives", keep_days, _over, "finished_at", "pk", "workspace_id", clear=_delete_items)
)
HOLDS.append(LetterHold(lambda: RedriveItem.objects.filter(active=True), entry="entry"))
TRIAGE.append(running)
