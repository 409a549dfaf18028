"""Resolved dead letters are deleted when their time is over; open and pinned ones never are."""

from dlq.models import DeadLetterEntry, Resolution
from executions.clock import database_now

BATCH = 1_000
MOST = 100_000


def expire() -> int:
    """Delete resolved entries past `expires_at`, in batches; returns how many (100,000 at most)."""
    count, now = 0, database_now()
    while count < MOST:
        ids = list(
            DeadLetterEntry.objects.exclude(resolution=Resolution.PENDING)
            .filter(expires_at__lte=now, pinned=False)
            .values_list("pk", flat=True)[:BATCH]
        )
        if not ids:
            break
        DeadLetterEntry.objects.filter(pk__in=ids).delete()
        count += len(ids)
    return count
