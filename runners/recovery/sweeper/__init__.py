"""Whatever should be moving and is not is set moving again: one duty a file.

Each duty picks a bounded batch, changes or serves every row it picks so that none comes back at
once, and publishes last. Duties return counts. One sweep of a kind runs at a time.
"""

import logging
from collections.abc import Callable

from executions.database.advisory_lock import alone
from executions.database.advisory_locks import AdvisoryLock
from runners import metrics
from runners.recovery.sweeper import (
    admission,
    budgets,
    cache,
    children,
    circuits,
    due,
    events,
    expired,
    jobs,
    joins,
    leftovers,
    lost,
    orphans,
    overdue,
    places,
    runners,
    stalled,
    timers,
    unused_circuits,
)

log = logging.getLogger(__name__)

Duty = Callable[[], int]

OFTEN: dict[str, Duty] = {
    "due": due.sweep,
    "timers": timers.sweep,
    "circuits": circuits.sweep,
    "orphans": orphans.sweep,
    "budgets": budgets.sweep,
}
SELDOM: dict[str, Duty] = {
    "places": places.sweep,
    "expired": expired.sweep,
    "lost": lost.sweep,
    "stalled": stalled.sweep,
    "joins": joins.sweep,
    "overdue": overdue.sweep,
    "children": children.sweep,
    "events": events.sweep,
    "leftovers": leftovers.sweep,
    "admission": admission.sweep,
    "cache": cache.sweep,
    "runners": runners.sweep,
    "jobs": jobs.sweep,
    "unused_circuits": unused_circuits.sweep,
}


def often() -> dict[str, int]:
    """What is worth a look every second; counts by duty."""
    return _run(OFTEN, AdvisoryLock.SWEEP_EVERY_SECOND)


def seldom() -> dict[str, int]:
    """What is worth a look every five seconds; counts by duty."""
    return _run(SELDOM, AdvisoryLock.SWEEP_EVERY_FIVE_SECONDS)


def _run(duties: dict[str, Duty], lock: AdvisoryLock) -> dict[str, int]:
    counts: dict[str, int] = {}
    with alone(lock) as free:
        if not free:
            return counts
        for name, duty in duties.items():
            try:
                with metrics.swept(name):
                    counts[name] = duty()
                metrics.MENDS.labels(name).inc(counts[name])
            except Exception:
                log.exception("the duty %r failed; the others go on", name)
    if any(counts.values()):
        log.info("swept %s", {name: count for name, count in counts.items() if count})
    return counts
