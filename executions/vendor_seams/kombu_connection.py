"""The connections of our Celery app: they retry every three seconds and use our transports.

kombu waits 2 s longer after each try, up to 30: workers and beat noticed a broker's return 10 s
late after 20 s, and half a minute late after an hour.

Relies on: workers and beat connect through `Connection.ensure_connection` and pass no interval of
their own; the app makes connections of `AMQP.Connection`; a connection asks `get_transport_cls`
for its transport; a pool, such as that of Celery's producers, is made by `Connection.Pool` and
makes a `PooledConnection` of `connection._info(resolve=False)` (kombu 5.3 to 5.7, Celery 5.3 to
5.7).
No public way: Celery has settings for how often it tries, none for how long it waits between. Its
setting for a transport is ignored for addresses such as redis+socket://.
If it breaks: after an outage of the broker, work goes on up to 30 s later; workers end when Redis
does (see kombu_redis), and requests hang when RabbitMQ does (see kombu_amqp).
"""

from typing import Any

from celery.app.amqp import AMQP
from kombu import connection as kombu
from kombu.transport.base import Transport

# Seconds: before the second try, how many more before each further one, and at most.
RETRY = {"interval_start": 1, "interval_step": 1, "interval_max": 3}


def _ours(kind: str) -> tuple[type[Transport], ...]:
    """Our transports to a kind of broker, whose client is loaded for it."""
    if kind == "redis":
        from executions.vendor_seams.kombu_redis import RedisTransport, SentinelTransport

        return RedisTransport, SentinelTransport
    if kind == "amqp":
        from executions.vendor_seams.kombu_amqp import AmqpsTransport, AmqpTransport

        return AmqpTransport, AmqpsTransport
    return ()


class PatientConnection:
    """What differs from kombu's connections: as patient and more eager, our own transports."""

    def get_transport_cls(self) -> type[Transport]:
        """The transport that kombu names, or ours in place of those to Redis and RabbitMQ."""
        found: type[Transport] = super().get_transport_cls()  # type: ignore[misc]
        return next((one for one in _ours(found.driver_type) if found in one.__bases__), found)

    def ensure_connection(self, *args: Any, **kwargs: Any) -> Any:
        """Connect, trying again and again; arguments are kombu's."""
        return super().ensure_connection(*args, **RETRY | kwargs)  # type: ignore[misc]


class Connection(PatientConnection, kombu.Connection):
    """A connection, and what pools of it are made of."""

    def Pool(  # noqa: N802 - kombu's name
        self, limit: int | None = None, **kwargs: Any
    ) -> kombu.ConnectionPool:
        """A pool of connections like this one."""
        return ConnectionPool(self, limit, **kwargs)


class PooledConnection(PatientConnection, kombu.PooledConnection):
    """A connection of a pool."""


class ConnectionPool(kombu.ConnectionPool):
    """kombu's, which would make connections of its own class whatever it is a pool of."""

    def new(self) -> Any:
        """Make one more connection."""
        return PooledConnection(self, **dict(self.connection._info(resolve=False)))


class Amqp(AMQP):
    """What the app makes its connections of."""

    Connection = Connection
    BrokerConnection = Connection
