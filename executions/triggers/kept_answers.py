"""How long answers are kept for who asks again with the same `Idempotency-Key`."""

from datetime import timedelta

from django.db import transaction
from django.db.models import QuerySet

from executions.database.clock import database_now
from executions.models import KeptAnswer

KEPT = timedelta(hours=24)
PRUNED_AT_ONCE, ROUNDS = 5_000, 20


def prune() -> int:
    """Forget answers that are older than 24 hours; how many, 100,000 at most."""
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
