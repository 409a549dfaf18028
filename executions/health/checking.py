"""Check all parts concurrently, in bounded time, at most once a second.

Each check (one of the broker, and one through each database) has its own thread. If a check does
not end in time, for example because a server is frozen, its parts count as unhealthy, and no second
check starts until it ends.
"""

import logging
import threading
import time
from functools import partial
from typing import Any

import psycopg
from kombu.exceptions import OperationalError

from executions.database import connections
from executions.database.each_database import BackgroundLook
from executions.database.routing import alias_of, serving
from executions.health import parts
from executions.health.parts import HealthFinding, silent

log = logging.getLogger(__name__)
Findings = dict[str, HealthFinding]
KEPT_SECONDS = 1.0
PATIENCE_SECONDS = connections.SECONDS + 0.5


class HealthChecks:
    """The findings of all parts, kept for 1 s; concurrent requests share one check."""

    def __init__(self) -> None:
        """Start without findings."""
        self._lock = threading.Lock()
        self._looks = (BackgroundLook(_through_the_database), BackgroundLook(_at_the_broker))
        self._cells: dict[str, BackgroundLook[Findings]] = {}
        self._kept: Findings = {}
        self._at = float("-inf")

    def findings(self) -> Findings:
        """Return the finding of each part, by name."""
        with self._lock:
            if time.monotonic() - self._at > KEPT_SECONDS:
                self._kept = self._look()
                self._at = time.monotonic()
            return self._kept

    def forget(self) -> None:
        """Make the next call of `findings` check again."""
        self._at = float("-inf")

    def _look(self) -> Findings:
        for cell in parts.cells():
            self._cells.setdefault(cell, BackgroundLook(partial(_in_the_cell, cell)))
        looks = (*self._looks, *(self._cells[cell] for cell in parts.cells()))
        for look in looks:
            look.begin()
        until = time.monotonic() + PATIENCE_SECONDS
        found: Findings = {}
        for look in looks:
            found |= look.end(until) or {}
        return {name: found.get(name) or silent(connections.SECONDS) for name in parts.names()}


def _at_the_broker() -> Findings:
    try:
        return {"broker": parts.broker()}
    except (OSError, OperationalError) as error:
        log.warning("the broker is not ready: %s", error)
        return {"broker": _refused(error, "CELERY_BROKER_URL (or REDIS_URL)")}


def _in_the_cell(cell: str) -> Findings:
    with serving(alias_of(cell)):
        found = _through_the_database(f"VALKYR_CELLS[{cell}]")
    return {parts.of_cell(cell, name): finding for name, finding in found.items()}


def _through_the_database(setting: str = "DATABASE_URL") -> Findings:
    try:
        session = connections.open_session()
    except (OSError, psycopg.Error) as error:
        log.warning("the database is not ready: %s", error)
        unknown = HealthFinding(
            False, "not known", "a database that answers", "Fix the database first."
        )
        rest = dict.fromkeys(parts.SEEN, unknown)
        return rest | {"database": _refused(error, setting)}
    with session:
        return {name: _seen(name, look, session) for name, look in parts.SEEN.items()}


def _seen(name: str, look: parts.Check, session: Any) -> HealthFinding:
    try:
        return look(session)
    except psycopg.Error as error:
        log.warning("%s could not be checked: %s", name, error)
        return HealthFinding(
            False,
            f"the database rejected the query ({type(error).__name__})",
            "an answer",
            "Check that all migrations are applied. See the log of this process.",
        )


def _refused(error: Exception, setting: str) -> HealthFinding:
    return HealthFinding(
        False,
        f"no connection ({type(error).__name__})",
        "a connection",
        f"Check that it runs and that {setting} has its address. See the log of this process.",
    )


HEALTH_CHECKS = HealthChecks()


def statuses(*names: str) -> dict[str, bool]:
    """Return, by name, whether each of these parts is healthy."""
    found = HEALTH_CHECKS.findings()
    return {name: found[name].well for name in names}
