"""Skip the pool's checks of connections that almost certainly still work.

Django lets psycopg's pool check a connection whenever a request takes one: a round trip for each
request. A connection that answered a check less than 5 s ago and whose socket is silent is assumed
to work. A server that ends a session sends a message on the socket, so the end is detected
immediately; only a server that vanished without a message is detected at the first statement
instead.

Relies on: `ConnectionPool.check_connection(connection)` calls `connection.execute("")`
(psycopg-pool 3.2, 3.3); the pool's public option `connection_class`.
No public way: Django passes `check` itself, so that the option would be given twice.
If it breaks: each request costs the round trip again.
"""

import select
from time import monotonic
from typing import Any

from psycopg import Connection

TRUSTED_SECONDS = 5.0


class CheckedConnection(Connection[Any]):
    """psycopg's connection, which answers the pool's check itself if that is safe."""

    _checked = float("-inf")

    def execute(self, query: Any, *args: Any, **kwargs: Any) -> Any:
        """Run a query; skip the pool's check if the connection is assumed to work."""
        if query != "":
            return super().execute(query, *args, **kwargs)
        if monotonic() - self._checked < TRUSTED_SECONDS and _is_silent(self):
            return None
        answer = super().execute(query, *args, **kwargs)
        self._checked = monotonic()
        return answer


def _is_silent(connection: CheckedConnection) -> bool:
    """Return whether the connection is open and has no unread data, such as a notice of its end."""
    if connection.closed:
        return False
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return not poll.poll(0)


OPTIONS: dict[str, Any] = {"connection_class": CheckedConnection}
