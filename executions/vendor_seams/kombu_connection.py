"""The connections of Valkyr's Celery app: they retry after at most 3 s, on Valkyr's transports.

kombu waits 2 s longer after each attempt, up to 30 s: workers and beat noticed a broker's return 10
s late after an outage of 20 s, and 30 s late after one of an hour.

Relies on: workers and beat connect through `Connection.ensure_connection` and pass no interval of
their own; the app makes connections of `AMQP.Connection`; a connection asks `get_transport_cls` for
its transport; a pool, such as that of Celery's producers, is made by `Connection.Pool` and makes a
`PooledConnection` of `connection._info(resolve=False)` (kombu 5.3 to 5.7, Celery 5.3 to 5.7).
No public way: Celery has settings for the number of attempts, none for the wait between them. Its
setting for a transport is ignored for addresses such as redis+socket://.
If it breaks: after an outage of the broker, work resumes up to 30 s later; workers end when Redis
does (see kombu_redis), and requests hang when RabbitMQ does (see kombu_amqp).
"""

from typing import Any

from celery.app.amqp import AMQP
from kombu import connection as kombu
from kombu.transport.base import Transport

# Seconds before the second attempt, the increase for each further one, and the maximum.
RETRY = {"interval_start": 1, "interval_step": 1, "interval_max": 3}


def _ours(kind: str) -> tuple[type[Transport], ...]:
    """Import and return Valkyr's transports for Redis or RabbitMQ; () for other brokers."""
    if kind == "redis":
        from executions.vendor_seams.kombu_redis import RedisTransport, SentinelTransport

        return RedisTransport, SentinelTransport
    if kind == "amqp":
        from executions.vendor_seams.kombu_amqp import AmqpsTransport, AmqpTransport

        return AmqpTransport, AmqpsTransport
    return ()


class PatientConnection:
    """Valkyr's changes to kombu's connections: the retry interval, and Valkyr's transports."""

    def get_transport_cls(self) -> type[Transport]:
        """Return kombu's transport, or Valkyr's for Redis and RabbitMQ."""
        found: type[Transport] = super().get_transport_cls()  # type: ignore[misc]
        return next((one for one in _ours(found.driver_type) if found in one.__bases__), found)

    def ensure_connection(self, *args: Any, **kwargs: Any) -> Any:
        """Connect, with Valkyr's retry intervals unless `kwargs` contains others."""
        return super().ensure_connection(*args, **RETRY | kwargs)  # type: ignore[misc]


class Connection(PatientConnection, kombu.Connection):
    """A connection to the broker with Valkyr's changes, which makes pools with these changes."""

    def Pool(  # noqa: N802 - kombu's name
        self, limit: int | None = None, **kwargs: Any
    ) -> kombu.ConnectionPool:
        """Return a pool of connections like this one."""
        return ConnectionPool(self, limit, **kwargs)


class PooledConnection(PatientConnection, kombu.PooledConnection):
    """A connection of a pool, with Valkyr's changes."""


class ConnectionPool(kombu.ConnectionPool):
    """kombu's pool, except that its connections have Valkyr's changes."""

    def new(self) -> Any:
        """Return a new connection for the pool."""
        return PooledConnection(self, **dict(self.connection._info(resolve=False)))


class Amqp(AMQP):
    """Celery's factory of connections, which makes Valkyr's connections instead of kombu's."""

    Connection = Connection
    BrokerConnection = Connection
