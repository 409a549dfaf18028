"""Waits whose time has come go on."""

import time

from django.db import transaction

from runners import statements
from runners.waits import wake_runs

BATCH = 1_000
SECONDS = 0.7  # this sweep comes every second


def sweep() -> int:
    """Wake what is due, batch after batch while there is time; returns how many."""
    until = time.monotonic() + SECONDS
    count = 0
    while True:
        with transaction.atomic():
            found = statements.fetch("timers", {"batch": BATCH})
            pairs = [(run, execution) for run, execution in found]
            count += wake_runs.wake_all(pairs, wake_runs.ANY_KIND, {"by": "timer"})
        if len(found) < BATCH or time.monotonic() > until:
            return count
