"""Beat reads its entries from the database; of several beats, only the elected one is active."""

import logging
import socket
import time
from typing import Any

import psycopg
from django_celery_beat.schedulers import DatabaseScheduler

from executions.database import connection
from executions.database.advisory_locks import AdvisoryLock
from executions.database.poolers import direct_url
from executions.vendor_seams.celery_beat_entries import unsaved
from runners.process import signs_of_life
from valkyr.beat import often

log = logging.getLogger(__name__)

# Maximum seconds by which the stored time of the last sending may lag behind, for duties that run
# every few seconds.
LAG_SECONDS = 60.0


class ElectedScheduler(DatabaseScheduler):
    """A scheduler that ticks only while its session holds the election's advisory lock.

    The lock uses a separate direct connection (`DATABASE_DIRECT_URL` with a pooler). If the process
    or the connection dies, PostgreSQL releases the lock and another beat takes over.
    """

    _session: psycopg.Connection[Any] | None = None
    _elected = False
    _sign_at = float("-inf")
    _written_at = float("-inf")

    def tick(self, *args: Any, **kwargs: Any) -> Any:
        """If elected, send one task that is due, if any; return the seconds until the next tick."""
        elected = self._is_elected()
        self._give_sign("ticking" if elected else "standing by")
        if not elected:
            return 1.0
        return super().tick(*args, **kwargs)

    def should_sync(self) -> bool:
        """Return whether to save sent entries: at once, or once a minute if all are frequent.

        A beat that starts after a crash sends a frequent task a little early, which is harmless.
        Saving after each task would dominate beat's work, with a commit every second or two.
        """
        late = time.monotonic() - self._written_at > LAG_SECONDS
        return bool(super().should_sync() and (late or not unsaved(self) <= often()))

    def sync(self) -> None:
        """Save the entries that were sent since the last call.

        Celery also calls this method in the handler of SIGTERM. If the signal arrives while this
        thread waits for a query, saving would deadlock. The method then saves no entry, as after a
        crash.
        """
        session = connection.connection
        if session is not None and session.lock.locked():
            return
        super().sync()
        self._written_at = time.monotonic()

    def _give_sign(self, state: str) -> None:
        """Renew, every few seconds, the file that shows that beat is alive.

        This also happens while the database is unavailable, because a restart of beat would not fix
        that.
        """
        if time.monotonic() - self._sign_at < signs_of_life.patience() / 12:
            return
        self._sign_at = time.monotonic()
        try:
            signs_of_life.give("beat", f"beat of {socket.gethostname()}", state)
        except OSError as error:
            log.warning("no sign of life can be given in %s (%s)", signs_of_life.folder(), error)

    def _is_elected(self) -> bool:
        try:
            if self._session is None or self._session.closed:
                self._elected = False
                self._session = psycopg.connect(direct_conninfo(), autocommit=True)
            if self._elected:
                self._session.execute("SELECT 1")
                return True
            row = self._session.execute(
                "SELECT pg_try_advisory_lock(%s)", [AdvisoryLock.BEAT_ELECTION]
            ).fetchone()
        except psycopg.Error as error:
            log.warning("beat cannot reach the database (%s); it sends no tasks", error)
            self._session = None
            self._elected = False
            time.sleep(0.2)
            return False
        self._elected = bool(row and row[0])
        if self._elected:
            log.warning("this beat is elected")
        return self._elected


def direct_conninfo() -> str:
    """Return the connection string for a session with the server itself, not with a pooler."""
    if url := direct_url():
        return url
    given = connection.get_connection_params()
    names = ("dbname", "user", "password", "host", "port", "connect_timeout", "tcp_user_timeout")
    return psycopg.conninfo.make_conninfo(**{k: given[k] for k in names if given.get(k)})
