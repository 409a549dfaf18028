"""Fail all clients that wait for a database connection as soon as the pool cannot make one.

psycopg's pool retries after 1, 2, 4, 8 … seconds for five minutes, and each client waits for the
pool's whole timeout. Here the pool gives up after 1 s and immediately fails all waiting clients (a
503 instead of a wait of 20 s). The next client makes it try again, so work resumes as soon as the
database is back.

Relies on: `ConnectionPool._waiting`, a collection of clients with `fail(error)`, guarded by
`ConnectionPool._lock` (psycopg-pool 3.2, 3.3).
No public way: the public callback `reconnect_failed` is called on the failure, but cannot reach the
clients that wait.
If it breaks: requests wait 20 s for a response while the database is down.
"""

from typing import Any

from psycopg import OperationalError

# Seconds for which the pool tries to connect before it fails the waiting clients.
SECONDS = 1.0


def fail_waiting(pool: Any) -> None:
    """Fail every client that waits for a connection, because none could be made."""
    with pool._lock:
        waiting = list(pool._waiting)
    for client in waiting:
        client.fail(OperationalError("The database currently accepts no connection."))


OPTIONS: dict[str, Any] = {"reconnect_timeout": SECONDS, "reconnect_failed": fail_waiting}
