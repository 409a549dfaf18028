"""Wake runs whose timer is due, and request the delivery of events whose message was lost."""

import time
from datetime import timedelta

from django.db.models import F
from django.db.models.functions import Coalesce

from executions.database import transaction
from executions.database.clock import database_now
from executions.models import Event
from runners import statements
from runners.dispatch import messages
from runners.waits import wake_runs
from runners.waits.events import DELIVER, deliver_missed, stamped

BATCH = 1_000
TIMERS_SECONDS = 0.7  # time limit of one sweep, which runs every second


def due_timers() -> int:
    """Wake runs whose timer is due, in batches while there is time; return how many woke."""
    until = time.monotonic() + TIMERS_SECONDS
    count = 0
    while True:
        with transaction.atomic():
            found = statements.fetch("runs_with_due_timer", {"batch": BATCH})
            pairs = [(run, execution) for run, execution in found]
            count += wake_runs.wake_all(pairs, wake_runs.ANY_KIND, {"by": "timer"})
        if len(found) < BATCH or time.monotonic() > until:
            return count


# Send the messages of events again if they were lost.

AGE = timedelta(seconds=5)


def undelivered_events() -> int:
    """Request delivery of the oldest events that have not been processed for five seconds.

    Return how many. Events are not delivered here, because filters would take the time of the other
    duties. A delayed message has the same stamp as the new one, so only one of them takes effect.
    """
    overdue = Event.objects.filter(delivered_at=None).annotate(
        since=Coalesce(F("looked_at"), F("created_at"))
    )
    found = list(
        overdue.filter(created_at__lt=database_now() - AGE, since__lt=database_now() - AGE)
        .order_by("created_at")
        .values_list("pk", "looked_at")[:BATCH]
    )
    for event_id, looked_at in found:
        messages.tell(DELIVER, event_id, stamped(looked_at))
    return len(found)


# Runs that were suspended while an event arrived, by a process that died before its check.

MISSED_BATCH = 50


def missed_events() -> int:
    """Request delivery to suspended runs that may have missed events; return their number."""
    return deliver_missed(AGE.total_seconds(), MISSED_BATCH)
