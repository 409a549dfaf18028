"""What a pool of database connections does while the database refuses them.

psycopg's pool tries again by itself, after 1, 2, 4, 8 … seconds for five minutes, and whoever wants
a connection meanwhile waits for the pool's whole time-out. Here it gives up after a second, all
that wait are told so at once (a 503 rather than a silence of 20 s), and the next one who comes
makes it try again: work goes on as soon as the database is back, however long it was away.
"""

from typing import Any

from psycopg import OperationalError

# How long the pool tries before it tells those who wait.
SECONDS = 1.0


def tell_waiting(pool: Any) -> None:
    """Fail everybody who waits for a connection that could not be made."""
    with pool._lock:
        waiting = list(pool._waiting)
    for client in waiting:
        client.fail(OperationalError("The database gives no connection just now."))


OPTIONS: dict[str, Any] = {"reconnect_timeout": SECONDS, "reconnect_failed": tell_waiting}
