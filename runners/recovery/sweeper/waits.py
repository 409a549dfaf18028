"""Waits whose time has come go on; events whose message was lost are delivered."""

import time
from datetime import timedelta

from django.db import transaction

from executions.database.clock import database_now
from executions.models import Event
from runners import statements
from runners.recovery.duties import each
from runners.waits import events, wake_runs

BATCH = 1_000
TIMERS_SECONDS = 0.7  # this sweep comes every second


def due_timers() -> int:
    """Wake what is due, batch after batch while there is time; returns how many."""
    until = time.monotonic() + TIMERS_SECONDS
    count = 0
    while True:
        with transaction.atomic():
            found = statements.fetch("timers", {"batch": BATCH})
            pairs = [(run, execution) for run, execution in found]
            count += wake_runs.wake_all(pairs, wake_runs.ANY_KIND, {"by": "timer"})
        if len(found) < BATCH or time.monotonic() > until:
            return count


# Events whose message was lost are delivered.

AGE = timedelta(seconds=5)
EVENTS_SECONDS = 2.0


def undelivered_events() -> int:
    """Deliver the oldest of those that nobody delivered in five seconds; returns whom that woke."""
    until = time.monotonic() + EVENTS_SECONDS
    overdue = Event.objects.filter(delivered_at=None, created_at__lt=database_now() - AGE)
    ids = list(overdue.order_by("created_at").values_list("pk", flat=True)[:BATCH])
    count = 0
    for event_id in ids:
        count += each(f"event {event_id}", events.deliver, event_id)
        if time.monotonic() > until:
            break
    return count
