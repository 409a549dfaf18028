"""The tasks that beat sends for Valkyr. A message expires after the interval plus ten minutes.

Without the ten minutes, a worker whose clock is ahead of beat's could discard every message as
expired, because Celery compares with the worker's clock. Intervals above an hour count as an hour.
"""

from datetime import timedelta
from typing import Any

from executions import messaging
from executions.plugins import PeriodicTask, plugins


def _every(task: str, **every: float) -> PeriodicTask:
    return PeriodicTask(task=task, every=timedelta(**every))


ENGINE: dict[str, PeriodicTask] = {
    "valkyr: due retries": _every("runners.sweep_due", seconds=1),
    "valkyr: sweep": _every("runners.sweep", seconds=5),
    "valkyr: schedules": _every("executions.start_ticks", seconds=5),
    "valkyr: signatures": _every("executions.prune_signatures", minutes=1),
    "valkyr: kept answers": _every("executions.prune_answers", minutes=1),
    "valkyr: quota counts": _every("executions.prune_counts", hours=1),
    "valkyr: events": _every("executions.expire_told", hours=1),
    "valkyr: audit seals": _every("executions.seal_audit", seconds=30),
    "valkyr: account sessions": _every("executions.prune_sessions", hours=1),
    "valkyr: pulse": _every("dlq.pulse", seconds=5),
    "valkyr: failure groups": _every("dlq.tally", seconds=1),
    "valkyr: retention": _every("dlq.expire", days=1),
}
# Seconds: an allowance for different clocks, and the maximum lifetime of a duty's message without
# this allowance. It limits the work to make up for after a time without control workers.
CLOCKS_APART = 600.0
LONGEST = 3600.0
OFTEN = timedelta(minutes=1)


def entries() -> dict[str, dict[str, Any]]:
    """Return the entries of `beat_schedule` for the engine and the installed plugins."""
    found = dict(ENGINE)
    for plugin in plugins():
        found |= plugin.schedule
    return {name: entry(task) for name, task in found.items()}


def entry(task: PeriodicTask) -> dict[str, Any]:
    """Return a task as an entry for Celery's `beat_schedule`."""
    every = task["every"]() if callable(task["every"]) else task["every"]
    return {
        "task": task["task"],
        "schedule": every,
        "options": {
            "expires": min(every.total_seconds(), LONGEST) + CLOCKS_APART,
            "queue": messaging.at_broker(messaging.CONTROL),
        },
    }


def often() -> frozenset[str]:
    """Return the names of the entries that beat sends more often than once a minute.

    Beat need not save these entries after each message.
    """
    return frozenset(name for name, one in entries().items() if one["schedule"] < OFTEN)
