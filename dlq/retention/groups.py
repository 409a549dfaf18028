"""Delete resolved, ignored or merged groups without dead letters, and old hourly counts."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from dlq.conf import retention_days
from dlq.groups.locking import keep_counters
from dlq.models import (
    DeadLetterEntry,
    FailureGroup,
    GroupFingerprint,
    GroupHour,
    GroupMove,
    GroupNews,
    GroupStatus,
)
from dlq.retention.batches import PruningPace, PruningTally
from dlq.retention.periods import RetentionPeriods

# In each pass, groups come before fingerprints. So a group is deleted only in the pass after its
# fingerprints, and a failure that is being recorded can still find its group.
KINDS = ("groups", "fingerprints", "hours")
HOURS_KEPT = timedelta(days=8)  # charts and alerts read newer ones
OVER = (GroupStatus.RESOLVED, GroupStatus.IGNORED)
Letters = QuerySet[DeadLetterEntry]


def prune(kind: str, wanted: RetentionPeriods, pace: PruningPace) -> PruningTally:
    """Delete the expired rows of a kind while the pace allows it; return a tally."""
    tally, rows = PruningTally(kind), _due(kind, wanted)
    if rows is None:
        return tally
    while not pace.over:
        with pace.transaction():
            if kind != "hours":
                keep_counters()
            deleted = _some(rows, pace.batch)
        tally.rows += deleted
        if deleted < pace.batch:
            return tally
    tally.more = True
    return tally


def look(kind: str, wanted: RetentionPeriods, gone: Letters | None = None) -> PruningTally:
    """Return the tally of rows that `prune` would delete once the letters `gone` are deleted."""
    rows = _due(kind, wanted, gone)
    return PruningTally(kind, 0 if rows is None else rows.count())


def _due(kind: str, wanted: RetentionPeriods, gone: Letters | None = None) -> QuerySet[Any] | None:
    """Return the expired rows; None if they are kept, or if only some states are pruned."""
    if wanted.scope.states:
        return None
    old = wanted.before(retention_days())  # None: kept forever
    if kind == "hours":
        before = wanted.now - HOURS_KEPT
        before = before if wanted.older_than is None or old is None else min(before, old)
        hours = GroupHour.objects.filter(hour__lt=before).order_by("hour")
        return _scoped(hours, wanted, "group__")
    if old is None:
        return None
    empty = _scoped(_empty(old, gone), wanted)
    if kind == "fingerprints":
        return GroupFingerprint.objects.filter(group__in=empty.values("pk"))
    return empty.filter(~Exists(GroupFingerprint.objects.filter(group=OuterRef("pk"))))


def _scoped(rows: QuerySet[Any], wanted: RetentionPeriods, group: str = "") -> QuerySet[Any]:
    """Return the rows within the scope; `group` is the prefix of lookups in the group."""
    if wanted.scope.workspace_id is not None:
        rows = rows.filter(**{f"{group}workspace_id": wanted.scope.workspace_id})
    if wanted.scope.workflow_id is not None:
        rows = rows.filter(**{f"{group}workflow_id": wanted.scope.workflow_id})
    return rows


def _empty(old: datetime, gone: Letters | None) -> QuerySet[FailureGroup]:
    """Return unused resolved, ignored or merged groups without a failure or change since `old`.

    The dead letters `gone` count as deleted.
    """
    inside = DeadLetterEntry.objects.filter(group=OuterRef("pk"))
    if gone is not None:
        inside = inside.exclude(pk__in=gone.values("pk"))
    news = GroupNews.objects.filter(group=OuterRef("pk"))
    moves = GroupMove.objects.filter(Q(source=OuterRef("pk")) | Q(target=OuterRef("pk")))
    merged = FailureGroup.objects.filter(merged_into=OuterRef("pk"))
    over = Q(status__in=OVER) | Q(merged_into__isnull=False)
    rows = FailureGroup.objects.filter(over, status_at__lt=old, last_seen__lt=old)
    return rows.filter(~Exists(inside), ~Exists(news), ~Exists(moves), ~Exists(merged))


def _some(rows: QuerySet[Any], most: int) -> int:
    ids: list[int | UUID] = list(rows.values_list("pk", flat=True)[:most])
    rows.model._default_manager.filter(pk__in=ids).delete()
    return len(ids)
