"""One thread per process that tracks how fresh the replica is.

The thread runs while lists are requested.
"""

import logging
from collections import deque
from collections.abc import Mapping
from math import inf
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any

import psycopg
from django.db import connections

from executions.database.routing import first

# The age of a replica is computed only from positions in the write-ahead log. Clocks of different
# machines are never compared. No I/O.
#
# The primary's position is noted with the time before the query. A replica that has replayed a
# noted position has everything that was committed until that time. A replica that has lost its
# primary stops replaying, so its age increases automatically; its own report that it is idle would
# not reveal the loss.


class Positions:
    """Recent positions of the primary's write-ahead log, each with a monotonic time in seconds."""

    def __init__(self, kept_seconds: float) -> None:
        """Start empty; positions older than `kept_seconds` are forgotten."""
        self._kept = kept_seconds
        self._noted: deque[tuple[float, int]] = deque()

    def note(self, asked_at: float, position: int) -> None:
        """Record that the primary was at `position` (bytes) at `asked_at` or slightly later."""
        self._noted.append((asked_at, position))
        while self._noted and asked_at - self._noted[0][0] > self._kept:
            self._noted.popleft()

    def fresh_until(self, replayed: int) -> float:
        """Return the time up to which a replica at this position is complete; -inf if unknown."""
        return max((at for at, position in self._noted if position <= replayed), default=-inf)


log = logging.getLogger(__name__)
ALIAS = "replica"
LOOK_SECONDS = 1.0
# Seconds without a reader after which the thread and its two sessions end.
IDLE_SECONDS = 60.0
# Seconds for which a replica is not used after it failed a reader.
REST_SECONDS = 5.0
NAMES = (
    *("host", "port", "dbname", "user", "password"),
    *("sslmode", "sslrootcert", "sslcert", "sslkey", "sslpassword"),
)
OF_PRIMARY = "SELECT pg_current_wal_flush_lsn() - '0/0'"
OF_REPLICA = "SELECT pg_last_wal_replay_lsn() - '0/0' WHERE pg_is_in_recovery()"


class ReplicaWatch:
    """The freshness of the replica: many threads read it, and one thread determines it."""

    def __init__(self, lag_seconds: float) -> None:
        """Start without positions; a replica that lags more than `lag_seconds` is not read."""
        self._lag = lag_seconds
        self._positions = Positions(lag_seconds + 2 * LOOK_SECONDS)
        self._fresh_until = -inf
        self._rests_until = -inf
        self._asked_at = -inf
        self._thread: Thread | None = None
        self._lock = Lock()

    def fresh(self) -> bool:
        """Return whether the replica is trusted and lags by at most `lag_seconds`; do not wait."""
        now = self._asked_at = monotonic()
        self._run()
        return now >= self._rests_until and now - self._fresh_until <= self._lag

    def distrust(self, error: object) -> None:
        """Do not use the replica for `REST_SECONDS`, because a read from it failed."""
        log.warning("a query on the replica failed; lists are read from the primary: %s", error)
        self._rests_until = monotonic() + REST_SECONDS

    def _run(self) -> None:
        if self._thread is not None and self._thread.is_alive():
            return
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._thread = Thread(target=self._watch, name="replica watch", daemon=True)
                self._thread.start()

    def _watch(self) -> None:
        never = Event()
        while monotonic() - self._asked_at < IDLE_SECONDS:
            try:
                self._look_on(never)
            except psycopg.Error as error:
                self._fresh_until = -inf
                log.warning("the replica's lag cannot be measured: %s", error)
            never.wait(LOOK_SECONDS)

    def _look_on(self, never: Event) -> None:
        with _session(first()) as primary, _session(ALIAS) as replica:
            while monotonic() - self._asked_at < IDLE_SECONDS:
                self._look(primary, replica)
                never.wait(LOOK_SECONDS)

    def _look(self, primary: psycopg.Connection[Any], replica: psycopg.Connection[Any]) -> None:
        asked_at = monotonic()
        [position] = primary.execute(OF_PRIMARY).fetchone() or [None]
        replayed = replica.execute(OF_REPLICA).fetchone()
        if position is None or replayed is None or replayed[0] is None:
            # A server that replays nothing is not a replica. A promoted replica, for example,
            # accepts writes.
            self._fresh_until = -inf
            return
        self._positions.note(asked_at, int(position))
        self._fresh_until = self._positions.fresh_until(int(replayed[0]))


def _session(alias: str) -> psycopg.Connection[Any]:
    """Return a session outside the pool, with short timeouts."""
    given: Mapping[str, Any] = connections[alias].get_connection_params()
    parts = {name: given[name] for name in NAMES if given.get(name)}
    return psycopg.connect(
        **parts,
        autocommit=True,
        connect_timeout=2,
        tcp_user_timeout=2000,
        application_name="valkyr-replica-watch",
        options="-c statement_timeout=2000",
    )
