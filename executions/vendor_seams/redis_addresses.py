"""Connections to the broker that share one lookup of its name while they reconnect.

A worker that lost Redis opens several connections, one after another, and redis-py looks the name
up for each: with lookups of two seconds, a worker took its first message after 16 s. The address of
a connection that succeeded is used for the next ones for ten seconds. If it does not answer, the
name is looked up again at once, so a name that moves to another server costs one more attempt.
Connections with TLS, which check the server's name, and connections through Sentinels share no
lookup.

Relies on: `redis.Connection._connect()`, which connects to `self.host` and `self.port` and returns
the socket (redis-py 4.5 to 8); `Channel.connection_class` (kombu 5.3 to 5.7).
No public way: redis-py has no setting for a resolver, and kombu passes the name to each connection.
If it breaks: with slow lookups, workers take their first message up to 30 s after they lost Redis.
"""

import socket
import time

from redis import Connection

KEPT_SECONDS = 10.0
# Addresses by name and port, and until when they are used.
_known: dict[tuple[str, int], tuple[str, float]] = {}


class AddressedConnection(Connection):
    """A connection that, for ten seconds, first tries the address of the last successful one."""

    def _connect(self) -> socket.socket:
        name = self.host
        known, until = _known.get((name, self.port), ("", 0.0))
        if time.monotonic() < until:
            self.host = known
            try:
                return super()._connect()  # type: ignore[no-any-return, no-untyped-call]
            except OSError:
                _known.pop((name, self.port), None)
            finally:
                self.host = name
        made: socket.socket = super()._connect()  # type: ignore[no-untyped-call]
        _known[name, self.port] = (made.getpeername()[0], time.monotonic() + KEPT_SECONDS)
        return made
