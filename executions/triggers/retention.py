"""Retention of events, resolved refused messages and stored responses.

Undelivered events and unresolved messages are kept.
"""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import QuerySet

from executions.configuration import settings as valkyr_settings
from executions.database import transaction
from executions.database.clock import database_now, first_id_at
from executions.models import Event, KeptAnswer, RefusedMessage

BATCH = 1_000
MOST = 100_000


def expire() -> dict[str, int]:
    """Delete delivered events and resolved messages past their retention; return the numbers.

    At most 100,000 rows of each kind are deleted. The setting is VALKYR_EVENT_RETENTION_DAYS; 0
    keeps all rows.
    """
    if days() == 0:
        return {"events": 0, "messages": 0}
    before = database_now() - timedelta(days=days())
    return {"events": _delete(events(before)), "messages": _delete(messages(before))}


def days() -> float:
    """Return how many days events and messages are kept (VALKYR_EVENT_RETENTION_DAYS)."""
    return valkyr_settings().event_retention_days


def events(before: datetime) -> QuerySet[Event]:
    """Return the fully delivered events that were published before a time."""
    # IDs contain the time of their creation, so old rows are a range of the primary key.
    return Event.objects.filter(pk__lt=first_id_at(before), delivered_at__isnull=False)


def messages(before: datetime) -> QuerySet[RefusedMessage]:
    """Return resolved messages that were refused before a time."""
    return RefusedMessage.objects.filter(pk__lt=first_id_at(before)).exclude(resolution="")


def _delete(rows: QuerySet[Any]) -> int:
    count = 0
    while count < MOST:
        with transaction.atomic():
            chosen = rows.select_for_update(skip_locked=True).order_by("pk")
            ids = list(chosen.values_list("pk", flat=True)[:BATCH])
            rows.model._default_manager.filter(pk__in=ids).delete()
        count += len(ids)
        if len(ids) < BATCH:
            break
    return count


# How long responses are kept for callers that repeat an `Idempotency-Key`, and the limits of
# pruning.


KEPT = timedelta(hours=24)
PRUNED_AT_ONCE, ROUNDS = 5_000, 20


def prune() -> int:
    """Delete stored responses older than 24 hours, at most 100,000; return the number deleted."""
    old = KeptAnswer.objects.filter(created_at__lt=database_now() - KEPT)
    total = 0
    for _ in range(ROUNDS):
        gone = _prune_some(old)
        total += gone
        if gone < PRUNED_AT_ONCE:
            break
    return total


def _prune_some(old: QuerySet[KeptAnswer]) -> int:
    with transaction.atomic():
        rows = old.select_for_update(skip_locked=True).order_by("created_at")
        ids = list(rows.values_list("pk", flat=True)[:PRUNED_AT_ONCE])
        return KeptAnswer.objects.filter(pk__in=ids).delete()[0]
