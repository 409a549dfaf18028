"""Looking at all parts side by side, in bounded time, at most once a second.

Each of the two looks (one at the broker, one through the database) has a thread of its own. One
that hangs, as on a frozen server, is not waited for and not doubled: until it ends, its parts give
no answer.
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
    """One look, at most one at a time, in a thread that nobody has to wait for."""

    def __init__(self, work: Callable[[], Findings]) -> None:
        """`work` gives the findings."""
        self._work = work
        self._thread: threading.Thread | None = None
        self._found: Findings = {}

    def begin(self) -> None:
        """Start looking, unless the last look still hangs."""
        if self._thread is None or not self._thread.is_alive():
            self._found = {}
            self._thread = threading.Thread(target=self._run, name="health", daemon=True)
            self._thread.start()

    def end(self, until: float) -> Findings:
        """What was found up to a time of `time.monotonic()`."""
        assert self._thread is not None
        self._thread.join(max(0.0, until - time.monotonic()))
        return dict(self._found)

    def _run(self) -> None:
        self._found = self._work()


class HealthChecks:
    """The findings of all parts, kept for a second; asked for at once, they are looked for once."""

    def __init__(self) -> None:
        """Nothing was looked at yet."""
        self._lock = threading.Lock()
        self._looks = (CheckThread(_through_the_database), CheckThread(_at_the_broker))
        self._kept: Findings = {}
        self._at = float("-inf")

    def findings(self) -> Findings:
        """What was found of each part."""
        with self._lock:
            if time.monotonic() - self._at > KEPT_SECONDS:
                self._kept = self._look()
                self._at = time.monotonic()
            return self._kept

    def forget(self) -> None:
        """Look anew the next time."""
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
            False, "not known", "a database that says so", "Fix the database first."
        )
        rest = dict.fromkeys(parts.SEEN, unknown)
        return rest | {"database": _refused(error, "DATABASE_URL")}
    with session:
        return {name: _seen(name, look, session) for name, look in parts.SEEN.items()}


def _seen(name: str, look: parts.Check, session: Any) -> HealthFinding:
    try:
        return look(session)
    except psycopg.Error as error:
        log.warning("%s could not be looked at: %s", name, error)
        return HealthFinding(
            False,
            f"the database refused to say ({type(error).__name__})",
            "an answer",
            "Are all migrations applied? The log of this process says more.",
        )


def _refused(error: Exception, setting: str) -> HealthFinding:
    return HealthFinding(
        False,
        f"no connection ({type(error).__name__})",
        "a connection",
        f"Is it running, and does {setting} name it? The log of this process says more.",
    )


HEALTH_CHECKS = HealthChecks()


def statuses(*names: str) -> dict[str, bool]:
    """Whether these parts are well."""
    found = HEALTH_CHECKS.findings()
    return {name: found[name].well for name in names}
