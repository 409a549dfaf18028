"""What beat sends, and how often; a message that finds no worker expires after ten minutes.

Were it before the next one comes, a worker whose clock is a minute ahead of beat's would take every
message for an old one and do nothing: Celery compares with the clock of the machine.
"""

from datetime import timedelta
from typing import Any

from valkyr_project import plugins

SCHEDULE: dict[str, Any] = {
    "valkyr: due retries": {
        "task": "runners.sweep_due",
        "schedule": timedelta(seconds=1),
        "options": {"expires": 1.0, "queue": "control"},
    },
    "valkyr: sweep": {
        "task": "runners.sweep",
        "schedule": timedelta(seconds=5),
        "options": {"expires": 5.0, "queue": "control"},
    },
    "valkyr: schedules": {
        "task": "executions.start_ticks",
        "schedule": timedelta(seconds=5),
        "options": {"expires": 5.0, "queue": "control"},
    },
    "valkyr: signatures": {
        "task": "executions.prune_signatures",
        "schedule": timedelta(minutes=1),
        "options": {"expires": 60.0, "queue": "control"},
    },
    "valkyr: kept answers": {
        "task": "executions.prune_answers",
        "schedule": timedelta(minutes=1),
        "options": {"expires": 60.0, "queue": "control"},
    },
    "valkyr: quota counts": {
        "task": "executions.prune_counts",
        "schedule": timedelta(hours=1),
        "options": {"expires": 3600.0, "queue": "control"},
    },
    "valkyr: events": {
        "task": "executions.expire_told",
        "schedule": timedelta(hours=1),
        "options": {"expires": 3600.0, "queue": "control"},
    },
    "valkyr: sessions": {
        "task": "executions.clear_browser_sessions",
        "schedule": timedelta(hours=1),
        "options": {"expires": 3600.0, "queue": "control"},
    },
    "valkyr: audit seals": {
        "task": "executions.seal_audit",
        "schedule": timedelta(seconds=30),
        "options": {"expires": 30.0, "queue": "control"},
    },
    "valkyr: account sessions": {
        "task": "executions.prune_sessions",
        "schedule": timedelta(hours=1),
        "options": {"expires": 3600.0, "queue": "control"},
    },
    "valkyr: pulse": {
        "task": "dlq.pulse",
        "schedule": timedelta(seconds=5),
        "options": {"expires": 5.0, "queue": "control"},
    },
    "valkyr: failure groups": {
        "task": "dlq.tally",
        "schedule": timedelta(seconds=1),
        "options": {"expires": 1.0, "queue": "control"},
    },
    "valkyr: retention": {
        "task": "dlq.expire",
        "schedule": timedelta(days=1),
        "options": {"expires": 3600.0, "queue": "control"},
    },
}
for _name, _task in plugins.schedule().items():
    SCHEDULE[_name] = {
        "task": _task["task"],
        "schedule": _task["every"],
        "options": {"expires": _task["every"].total_seconds(), "queue": "control"},
    }
# How far apart clocks may be; and how much is made up for after a time without control workers.
CLOCKS_APART = 600.0
for _entry in SCHEDULE.values():
    _entry["options"]["expires"] += CLOCKS_APART
# Sent every few seconds: beat need not write each sending down at once.
OFTEN = frozenset(
    name for name, entry in SCHEDULE.items() if entry["schedule"] < timedelta(minutes=1)
)
