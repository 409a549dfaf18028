"""Dead letters go when their time is over (`expires_at`, set as one is resolved), with their items.

Unless they are pinned, their execution is under way, or a redrive holds them; open ones stay for
ever.
"""

from datetime import datetime

from django.db.models import Exists, Max, Min, OuterRef, Q, QuerySet

from dlq.conf import retention_days
from dlq.models import DeadLetterEntry, RedriveItem, Resolution
from dlq.retention.pace import PruningPace
from dlq.retention.tally import PruningTally
from dlq.retention.wanted import Wanted
from executions.states import FINAL
from executions.vendor_seams.django_deletion import delete_without_cascade

KIND = "dead letters"


def prune(wanted: Wanted, pace: PruningPace) -> PruningTally:
    """Delete those that are due, the first to expire first."""
    tally = PruningTally(KIND)
    while not pace.over:
        with pace.transaction():
            deleted = _some(wanted, pace.batch, tally)
        if deleted < pace.batch:
            return tally
    tally.more = True
    return tally


def look(wanted: Wanted) -> PruningTally:
    """What `prune` would delete; and how many that are resolved stay for another reason."""
    rows = _due(wanted)
    first, last = rows.aggregate(first=Min("resolved_at"), last=Max("resolved_at")).values()
    tally = PruningTally(KIND, rows.count(), first, last)
    kept = _scoped(wanted).filter(_old(wanted), expires_at__isnull=False, pinned=True)
    tally.kept.update({"pinned": kept.count()} if kept.exists() else {})
    return tally


def gone_by(wanted: Wanted) -> tuple[datetime | None, datetime | None]:
    """Until when those have expired, and were resolved, that this takes (each time, or None)."""
    if wanted.older_than is None:
        return wanted.now, None
    return None, wanted.before(retention_days())


def _some(wanted: Wanted, most: int, tally: PruningTally) -> int:
    rows = _due(wanted).order_by("expires_at").select_for_update(skip_locked=True, of=("self",))
    found = list(rows.values_list("pk", "resolved_at")[:most])
    ids = [pk for pk, _ in found]
    items = RedriveItem.objects.filter(entry_id__in=ids)
    delete_without_cascade(items)
    RedriveItem.objects.filter(again_id__in=ids).update(again=None)
    DeadLetterEntry.objects.filter(follows_id__in=ids).update(follows=None)
    letters = DeadLetterEntry.objects.filter(pk__in=ids)
    delete_without_cascade(letters)
    tally.rows += len(ids)
    for _, at in found:
        tally.span(at, at)
    return len(ids)


def _due(wanted: Wanted) -> QuerySet[DeadLetterEntry]:
    held = RedriveItem.objects.filter(entry=OuterRef("pk"), active=True)
    rows = _scoped(wanted).filter(_old(wanted), expires_at__isnull=False, pinned=False)
    rows = rows.filter(~Exists(held), execution__state__in=FINAL)
    return rows.exclude(resolution=Resolution.PENDING)


def _old(wanted: Wanted) -> Q:
    if wanted.older_than is None:
        return Q(expires_at__lte=wanted.now)
    return Q(resolved_at__lt=wanted.before(retention_days()))


def _scoped(wanted: Wanted) -> QuerySet[DeadLetterEntry]:
    rows, scope = DeadLetterEntry.objects.all(), wanted.scope
    if scope.workspace_id is not None:
        rows = rows.filter(workspace_id=scope.workspace_id)
    if scope.workflow_id is not None:
        rows = rows.filter(workflow_id=scope.workflow_id)
    if scope.states:
        rows = rows.filter(execution__state__in=scope.states)
    return rows
