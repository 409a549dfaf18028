"""Events whose message was lost are delivered."""

import time
from datetime import timedelta

from executions.database.clock import database_now
from executions.models import Event
from runners.recovery.duties import each
from runners.waits import deliver

BATCH = 1_000
AGE = timedelta(seconds=5)
SECONDS = 2.0


def sweep() -> int:
    """Deliver the oldest of those that nobody delivered in five seconds; returns whom that woke."""
    until = time.monotonic() + SECONDS
    overdue = Event.objects.filter(delivered_at=None, created_at__lt=database_now() - AGE)
    ids = list(overdue.order_by("created_at").values_list("pk", flat=True)[:BATCH])
    count = 0
    for event_id in ids:
        count += each(f"event {event_id}", deliver.deliver, event_id)
        if time.monotonic() > until:
            break
    return count
