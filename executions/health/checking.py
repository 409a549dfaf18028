"""Check all parts concurrently, in bounded time, at most once a second.

Each of the two checks (one at the broker, one through the database) has its own thread. If one does
not end, for example because a server is frozen, no request waits for it and no second one starts:
until that check ends, its parts have no result.
"""

import logging
import threading
import time
from collections.abc import Callable
from typing import Any

import psycopg
from kombu.exceptions import OperationalError

from executions.health import parts
from executions.health.parts import HealthFinding, silent

log = logging.getLogger(__name__)
Findings = dict[str, HealthFinding]
KEPT_SECONDS = 1.0
PATIENCE_SECONDS = parts.SECONDS + 0.5


class CheckThread:
    """One check, at most one at a time, in a thread that requests do not have to wait for."""

    def __init__(self, work: Callable[[], Findings]) -> None:
        """Create a check whose findings `work` returns."""
        self._work = work
        self._thread: threading.Thread | None = None
        self._found: Findings = {}

    def begin(self) -> None:
        """Start the check, unless the previous one is still running."""
        if self._thread is None or not self._thread.is_alive():
            self._found = {}
            self._thread = threading.Thread(target=self._run, name="health", daemon=True)
            self._thread.start()

    def end(self, until: float) -> Findings:
        """Return the findings so far; wait for the check until the time `until` (monotonic)."""
        assert self._thread is not None
        self._thread.join(max(0.0, until - time.monotonic()))
        return dict(self._found)

    def _run(self) -> None:
        self._found = self._work()


class HealthChecks:
    """The findings of all parts, kept for 1 s; concurrent requests share one check."""

    def __init__(self) -> None:
        """Start without findings."""
        self._lock = threading.Lock()
        self._looks = (CheckThread(_through_the_database), CheckThread(_at_the_broker))
        self._kept: Findings = {}
        self._at = float("-inf")

    def findings(self) -> Findings:
        """Return the findings of each part."""
        with self._lock:
            if time.monotonic() - self._at > KEPT_SECONDS:
                self._kept = self._look()
                self._at = time.monotonic()
            return self._kept

    def forget(self) -> None:
        """Make the next call of `findings` check again."""
        self._at = float("-inf")

    def _look(self) -> Findings:
        for look in self._looks:
            look.begin()
        until = time.monotonic() + PATIENCE_SECONDS
        found: Findings = {}
        for look in self._looks:
            found |= look.end(until)
        return {name: found.get(name) or silent(parts.SECONDS) for name in parts.names()}


def _at_the_broker() -> Findings:
    try:
        return {"broker": parts.broker()}
    except (OSError, OperationalError) as error:
        log.warning("the broker is not ready: %s", error)
        return {"broker": _refused(error, "CELERY_BROKER_URL (or REDIS_URL)")}


def _through_the_database() -> Findings:
    try:
        session = parts.open_session()
    except (OSError, psycopg.Error) as error:
        log.warning("the database is not ready: %s", error)
        unknown = HealthFinding(
            False, "not known", "a database that answers", "Fix the database first."
        )
        rest = dict.fromkeys(parts.SEEN, unknown)
        return rest | {"database": _refused(error, "DATABASE_URL")}
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
