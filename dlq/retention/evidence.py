"""What nobody needs any more is deleted, in small batches; each function returns how many rows.

Evidence goes when its time is over (`expires_at`, set as a dead letter is resolved), unless it is
pinned or its execution may still go on; open dead letters stay for ever.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
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
    Resolution,
)
from executions.clock import database_now
from executions.states import FINAL

BATCH = 1_000
MOST = 100_000  # of a kind in one go
HOURS_KEPT = timedelta(days=8)
OVER = (GroupStatus.RESOLVED, GroupStatus.IGNORED)


def expire() -> dict[str, int]:
    """Delete what is past its time; counts by kind."""
    now = database_now()
    old = now - timedelta(days=retention_days())
    return {
        "dead letters": _in_batches(lambda: _entries(now)),
        "groups": _in_batches(lambda: _groups(old)),
        "fingerprints": _in_batches(lambda: _fingerprints(old)),
        "hours": _in_batches(lambda: _hours(now - HOURS_KEPT)),
    }


def _in_batches(delete: Callable[[], int]) -> int:
    count = 0
    while count < MOST:
        deleted = delete()
        count += deleted
        if deleted < BATCH:
            break
    return count


def _entries(now: datetime) -> int:
    """Resolved dead letters past `expires_at` that are not pinned, of executions that are over."""
    rows = DeadLetterEntry.objects.filter(
        expires_at__lte=now, pinned=False, execution__state__in=FINAL
    ).exclude(resolution=Resolution.PENDING)
    ids = list(rows.order_by("expires_at").values_list("pk", flat=True)[:BATCH])
    # Somebody may have pinned or restored one meanwhile.
    still = DeadLetterEntry.objects.filter(pk__in=ids, expires_at__lte=now, pinned=False)
    still.delete()
    return len(ids)


@transaction.atomic
def _groups(old: datetime) -> int:
    """Groups that were over long ago, hold nothing, and that no fingerprint leads to any more."""
    keep_counters()
    rows = _empty(old).filter(~Exists(GroupFingerprint.objects.filter(group=OuterRef("pk"))))
    return _gone(rows)


@transaction.atomic
def _fingerprints(old: datetime) -> int:
    """What leads to groups that were over long ago and hold nothing.

    The groups go the next time: a failure that has looked its group up, and is not yet recorded,
    finds it until then.
    """
    keep_counters()
    rows = GroupFingerprint.objects.filter(group__in=_empty(old).values("pk"))
    return _gone(rows)


def _hours(old: datetime) -> int:
    return _gone(GroupHour.objects.filter(hour__lt=old).order_by("hour"))


def _empty(old: datetime) -> QuerySet[FailureGroup]:
    """Resolved, ignored and merged groups of which nothing is left and nothing was heard since."""
    inside = DeadLetterEntry.objects.filter(group=OuterRef("pk"))
    news = GroupNews.objects.filter(group=OuterRef("pk"))
    moves = GroupMove.objects.filter(Q(source=OuterRef("pk")) | Q(target=OuterRef("pk")))
    merged = FailureGroup.objects.filter(merged_into=OuterRef("pk"))
    over = Q(status__in=OVER) | Q(merged_into__isnull=False)
    rows = FailureGroup.objects.filter(over, status_at__lt=old, last_seen__lt=old)
    return rows.filter(~Exists(inside), ~Exists(news), ~Exists(moves), ~Exists(merged))


def _gone(rows: QuerySet[Any]) -> int:
    ids: list[int | UUID] = list(rows.values_list("pk", flat=True)[:BATCH])
    rows.model._default_manager.filter(pk__in=ids).delete()
    return len(ids)
