"""Remote runners that nobody saw for a day are not listed any more: each may bring a new name."""

from datetime import timedelta

from executions.database.clock import database_now
from runners.models import Runner

AGE = timedelta(days=1)
BATCH = 1_000


def sweep() -> int:
    """Forget them; returns how many."""
    old = Runner.objects.filter(pool="remote", seen_at__lt=database_now() - AGE)
    ids = list(old.values_list("pk", flat=True)[:BATCH])
    return old.filter(pk__in=ids).delete()[0]
