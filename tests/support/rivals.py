"""Two sessions that race for one row; PostgreSQL reports which session waits for which."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Self, TypeVar

from django.db import connection, connections

from tests.support.waiting import wait_until

T = TypeVar("T")


class Rivals:
    """Threads with one connection each; use as a context manager."""

    def __init__(self, most: int = 8) -> None:
        self._threads = ThreadPoolExecutor(most)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown(wait=True)

    def begin(self, act: Callable[..., T], *args: Any, **options: Any) -> Future[T]:
        """Call the function in a separate session that ends with the call."""

        def run() -> T:
            try:
                return act(*args, **options)
            finally:
                connections.close_all()

        return self._threads.submit(run)


def my_session() -> int:
    """Return the process id of this thread's PostgreSQL session."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        row = cursor.fetchone()
    assert row is not None
    return int(row[0])


def blocked_by(holder: int) -> int:
    """Return how many sessions wait for a lock that the holder has, or for a session that waits for
    it.
    """
    with connection.cursor() as cursor:
        # Otherwise a transaction sees the activity of its first look.
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE %s = ANY(pg_blocking_pids(pid))",
            [holder],
        )
        row = cursor.fetchone()
    assert row is not None
    return int(row[0])


def wait_until_blocked(holder: int, sessions: int = 1) -> None:
    """Return when this number of sessions waits for the given one, so that the race has begun."""
    wait_until(lambda: blocked_by(holder) >= sessions, what=f"{sessions} sessions blocked")
