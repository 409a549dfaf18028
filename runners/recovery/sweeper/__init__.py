"""Whatever should be moving and is not is set moving again: one duty a file.

Plugins add duties of their own. One sweep of a kind runs at a time.
"""

import logging

from executions.database.advisory_lock import alone
from executions.database.advisory_locks import AdvisoryLock
from runners import metrics
from runners.recovery.duties import EVERY_FIVE_SECONDS, EVERY_SECOND, Duty
from runners.recovery.sweeper import (
    admission,
    cache,
    children,
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
)

log = logging.getLogger(__name__)

OFTEN: dict[str, Duty] = {
    "due": due.sweep,
    "timers": timers.sweep,
    "orphans": orphans.sweep,
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
}


def often() -> dict[str, int]:
    """What is worth a look every second; counts by duty."""
    return _run(OFTEN | EVERY_SECOND, AdvisoryLock.SWEEP_EVERY_SECOND)


def seldom() -> dict[str, int]:
    """What is worth a look every five seconds; counts by duty."""
    return _run(SELDOM | EVERY_FIVE_SECONDS, AdvisoryLock.SWEEP_EVERY_FIVE_SECONDS)


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
