"""Failure groups that are over and of which nothing is left, and hours that no chart reaches."""

from collections.abc import Callable
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
from dlq.retention.pace import PruningPace
from dlq.retention.tally import PruningTally

HOURS_KEPT = timedelta(days=8)
OVER = (GroupStatus.RESOLVED, GroupStatus.IGNORED)


def prune(now: datetime, pace: PruningPace) -> list[PruningTally]:
    """Delete groups, then what leads to others, then hours; a tally each."""
    old = now - timedelta(days=retention_days())
    return [
        _in_batches("groups", pace, lambda: _groups(old, pace.batch)),
        _in_batches("fingerprints", pace, lambda: _fingerprints(old, pace.batch)),
        _in_batches("hours", pace, lambda: _hours(now - HOURS_KEPT, pace.batch)),
    ]


def _in_batches(kind: str, pace: PruningPace, delete: Callable[[], int]) -> PruningTally:
    tally = PruningTally(kind)
    while not pace.over:
        with pace.transaction():
            deleted = delete()
        tally.rows += deleted
        if deleted < pace.batch:
            return tally
    tally.more = True
    return tally


def _groups(old: datetime, most: int) -> int:
    """Groups that were over long ago, hold nothing, and that no fingerprint leads to any more."""
    keep_counters()
    led_to = GroupFingerprint.objects.filter(group=OuterRef("pk"))
    return _gone(_empty(old).filter(~Exists(led_to)), most)


def _fingerprints(old: datetime, most: int) -> int:
    """What leads to groups that were over long ago and hold nothing.

    The groups go the next time: a failure that has looked its group up, and is not yet recorded,
    finds it until then.
    """
    keep_counters()
    return _gone(GroupFingerprint.objects.filter(group__in=_empty(old).values("pk")), most)


def _hours(old: datetime, most: int) -> int:
    return _gone(GroupHour.objects.filter(hour__lt=old).order_by("hour"), most)


def _empty(old: datetime) -> QuerySet[FailureGroup]:
    """Resolved, ignored and merged groups of which nothing is left and nothing was heard since."""
    inside = DeadLetterEntry.objects.filter(group=OuterRef("pk"))
    news = GroupNews.objects.filter(group=OuterRef("pk"))
    moves = GroupMove.objects.filter(Q(source=OuterRef("pk")) | Q(target=OuterRef("pk")))
    merged = FailureGroup.objects.filter(merged_into=OuterRef("pk"))
    over = Q(status__in=OVER) | Q(merged_into__isnull=False)
    rows = FailureGroup.objects.filter(over, status_at__lt=old, last_seen__lt=old)
    return rows.filter(~Exists(inside), ~Exists(news), ~Exists(moves), ~Exists(merged))


def _gone(rows: QuerySet[Any], most: int) -> int:
    ids: list[int | UUID] = list(rows.values_list("pk", flat=True)[:most])
    rows.model._default_manager.filter(pk__in=ids).delete()
    return len(ids)
