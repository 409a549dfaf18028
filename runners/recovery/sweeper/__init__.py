"""The sweeper finds stalled work and continues it. Its duties are grouped by subject.

Plugins add duties. Only one sweep of each kind runs at a time.
"""

import logging

from executions.database.advisory_locks import AdvisoryLock, alone
from runners.gates import held_permits
from runners.observability import metrics
from runners.recovery.duties import EVERY_FIVE_SECONDS, EVERY_SECOND, Duty
from runners.recovery.sweeper import (
    admission,
    executions,
    leases,
    messages,
    old_rows,
    waits,
)

log = logging.getLogger(__name__)

OFTEN: dict[str, Duty] = {
    "due": messages.due_runs,
    "timers": waits.due_timers,
    "orphans": leases.orphaned_steps,
    "compensations": executions.compensations,
}
SELDOM: dict[str, Duty] = {
    "places": admission.workspace_places,
    "expired": leases.expired_leases,
    "permits": held_permits.reclaim,  # after the duties that end leases
    "lost": messages.lost_messages,
    "stalled": executions.stalled_executions,
    "joins": executions.unplanned_joins,
    "overdue": executions.overdue_executions,
    "children": executions.child_executions,
    "events": waits.undelivered_events,
    "missed": waits.missed_events,
    "leftovers": executions.leftover_runs,
    "admission": admission.waiting_executions,
    "cache": old_rows.expired_results,
    "runners": old_rows.silent_runners,
    "jobs": old_rows.lost_jobs,
}


def often() -> dict[str, int]:
    """Run the duties due every second; return counts keyed by duty, or {} if a sweep is running."""
    return _run(OFTEN | EVERY_SECOND, AdvisoryLock.SWEEP_EVERY_SECOND)


def seldom() -> dict[str, int]:
    """Run the duties due every 5 s; return counts keyed by duty, or {} if a sweep is running."""
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
                log.exception("the duty %r failed; the others continue", name)
    if any(counts.values()):
        log.info("swept %s", {name: count for name, count in counts.items() if count})
    return counts
