"""Delete dead letters whose `expires_at`, set by the resolution, has passed.

While VALKYR_DLQ_RETENTION_DAYS is 0, none expires. `follow_setting` adapts `expires_at` after a
change to or from 0. Pinned and held dead letters are kept, as are the dead letters of unfinished
executions. Open dead letters never expire.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import reduce
from operator import or_
from typing import Any
from uuid import UUID

from django.db.models import Exists, F, Max, Min, OuterRef, Q, QuerySet

from dlq.conf import retention_days
from dlq.models import DeadLetterEntry, Resolution
from dlq.retention.batches import PruningPace, PruningTally
from dlq.retention.executions import LettersGone
from dlq.retention.periods import RetentionPeriods
from executions.database.clock import first_id_at
from executions.states import FINAL
from executions.vendor_seams.django_deletion import delete_without_cascade

KIND = "dead letters"


@dataclass(frozen=True, slots=True)
class LetterHold:
    """Rows of one kind that prevent the deletion of the dead letters to which they refer.

    `rows` returns the current rows; `entry` names their indexed foreign key to the dead letter.
    """

    rows: Callable[[], QuerySet[Any]]
    entry: str


# Code that refers to dead letters, which must then be kept, adds an entry here.
HOLDS: list[LetterHold] = []
# Code that needs the rows of dead letters adds a function of their IDs. It is called before the
# deletion, in the same transaction.
BEFORE_DELETION: list[Callable[[Sequence[UUID]], None]] = []


def prune(wanted: RetentionPeriods, pace: PruningPace) -> PruningTally:
    """Delete expired dead letters while the pace allows it; return a tally."""
    tally = PruningTally(KIND)
    while not pace.over:
        with pace.transaction():
            deleted = _some(wanted, pace.batch, tally)
        if deleted < pace.batch:
            return tally
    tally.more = True
    return tally


def look(wanted: RetentionPeriods) -> PruningTally:
    """Return the tally of the rows that `prune` would delete, and of the pinned rows it keeps."""
    rows = due(wanted)
    first, last = rows.aggregate(first=Min("resolved_at"), last=Max("resolved_at")).values()
    tally = PruningTally(KIND, rows.count(), first, last)
    kept = _scoped(wanted).filter(_old(wanted), pinned=True)
    tally.kept.update({"pinned": kept.count()} if kept.exists() else {})
    return tally


def gone_by(wanted: RetentionPeriods) -> LettersGone:
    """Return which dead letters count as deleted: all that are due, except those that are held."""
    held = _resolved(wanted).filter(_held())
    ids = tuple(held.values_list("pk", flat=True))
    before = wanted.before(retention_days())
    if before is not None and wanted.older_than is None:
        return LettersGone(expired=wanted.now, held=ids)
    return LettersGone(resolved=before, held=ids)


def follow_setting(now: datetime, pace: PruningPace) -> None:
    """Clear the expiry of all dead letters if they are kept forever; else set a missing expiry.

    A missing expiry is set when it is due, so the next pass deletes the dead letter.
    """
    days = retention_days()
    before = now - timedelta(days=days)
    rows = DeadLetterEntry.objects.filter(expires_at__isnull=False)
    if days > 0:
        # Also by ID, so that only dead letters older than the period are read.
        old = Q(pk__lt=first_id_at(before), resolved_at__lt=before)
        rows = DeadLetterEntry.objects.filter(old, expires_at=None)
    expires_at = F("resolved_at") + timedelta(days=days) if days > 0 else None
    changed = pace.batch
    while changed == pace.batch and not pace.over:
        with pace.transaction():
            free = rows.select_for_update(skip_locked=True, of=("self",), no_key=True)
            ids = list(free.values_list("pk", flat=True)[: pace.batch])
            changed = DeadLetterEntry.objects.filter(pk__in=ids).update(expires_at=expires_at)


def due(wanted: RetentionPeriods) -> QuerySet[DeadLetterEntry]:
    """Return the dead letters that `prune` deletes."""
    return _resolved(wanted).filter(~_held(), execution__state__in=FINAL)


def _some(wanted: RetentionPeriods, most: int, tally: PruningTally) -> int:
    order = "expires_at" if wanted.older_than is None else "pk"
    rows = due(wanted).order_by(order).select_for_update(skip_locked=True, of=("self",))
    found = list(rows.values_list("pk", "resolved_at")[:most])
    ids = [pk for pk, _ in found]
    for told in BEFORE_DELETION:
        told(ids)
    DeadLetterEntry.objects.filter(follows_id__in=ids).update(follows=None)
    letters = DeadLetterEntry.objects.filter(pk__in=ids)
    delete_without_cascade(letters)
    tally.rows += len(ids)
    for _, at in found:
        tally.span(at, at)
    return len(ids)


def _resolved(wanted: RetentionPeriods) -> QuerySet[DeadLetterEntry]:
    """Return the expired dead letters that are not pinned, including those that are held."""
    rows = _scoped(wanted).filter(_old(wanted), pinned=False)
    return rows.exclude(resolution=Resolution.PENDING)


def _held() -> Q:
    holding = (hold.rows().filter(**{hold.entry: OuterRef("pk")}) for hold in HOLDS)
    return reduce(or_, (Q(Exists(rows)) for rows in holding), Q(pk__in=()))


def _old(wanted: RetentionPeriods) -> Q:
    before = wanted.before(retention_days())
    if before is None:
        return Q(pk__in=())
    if wanted.older_than is None:
        return Q(expires_at__lte=wanted.now)
    return Q(resolved_at__lt=before)


def _scoped(wanted: RetentionPeriods) -> QuerySet[DeadLetterEntry]:
    rows, scope = DeadLetterEntry.objects.all(), wanted.scope
    if scope.workspace_id is not None:
        rows = rows.filter(workspace_id=scope.workspace_id)
    if scope.workflow_id is not None:
        rows = rows.filter(workflow_id=scope.workflow_id)
    if scope.states:
        rows = rows.filter(execution__state__in=scope.states)
    return rows
