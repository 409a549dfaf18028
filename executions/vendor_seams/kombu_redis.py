"""kombu's channels on Redis, with Sentinels or without, and Valkyr's changes to them.

A worker survives the loss of Redis while it holds messages. When kombu's channel requeues
unacknowledged messages or acknowledges a late one, it reads the address of its closed connection.
It finds none and raises AttributeError, which ends the worker ("Unrecoverable error"). If the error
is raised as a lost connection, kombu and Celery handle it: they reconnect, and the messages are
delivered again after the broker's visibility timeout, or sent again by the sweeper.

A worker survives a Redis that rejects writes (a full disk, full memory, missing replicas). kombu
treats the rejection as the caller's mistake, which ends the worker; after a connection error the
worker retries.

A worker takes messages again once Redis accepts writes again. Without this change, a message whose
acknowledgement Redis rejected still counts against the worker's prefetch limit; once such messages
fill the limit, the worker takes no more. Redis keeps unacknowledged messages, and kombu delivers
them again after the visibility timeout.

A queue under a key prefix exists while it holds a message. kombu calls EXISTS without
the prefix, so every queue seems to be missing; the sweeper then treats each backlog as lost, and
sends it again.

A channel keeps one client while its connections are the same. kombu creates a client for every
message that is sent or acknowledged, which takes 0.15 ms of the 0.6 ms per message.

A Sentinel that does not respond costs a second. By default, redis-py tries each Sentinel several
times, with pauses, before it asks the next.

Relies on: `QoS.ack(delivery_tag)`, `QoS.reject(delivery_tag, requeue)`, `Channel.QoS`,
`Channel._connparams(asynchronous)`, `Channel._create_client(asynchronous)`,
`Channel._has_queue(queue)`, `Channel._size(queue)`, `Channel.pool`, `Transport.Channel`,
`Transport.connection_errors` and `SentinelChannel._sentinel_managed_pool(asynchronous)`, which
reads `sentinel_kwargs` (kombu 5.5 to 5.7).
No public way: each change corrects a fault or avoids a cost in kombu.
If it breaks: workers end when they lose Redis, or take no messages after Redis rejected a write, or
backlogs are sent twice, or workers find a new primary late.
"""

from typing import Any

from kombu.transport import redis as transport
from kombu.transport import virtual
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as ConnectionLost
from redis.exceptions import ResponseError
from redis.retry import Retry

from executions.vendor_seams.redis_addresses import AddressedConnection

SENTINEL_SECONDS = 1.0


class QoS(transport.QoS):
    """Tracks a worker's messages; stops counting a message if Redis rejects its acknowledgement."""

    def ack(self, delivery_tag: str) -> None:
        """Acknowledge a message; if Redis rejects this, raise, but stop counting the message."""
        try:
            super().ack(delivery_tag)
        except ResponseError:
            virtual.QoS.ack(self, delivery_tag)
            raise

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        """Requeue or drop a message; if Redis rejects this, raise, but stop counting it."""
        try:
            super().reject(delivery_tag, requeue=requeue)
        except ResponseError:
            virtual.QoS.ack(self, delivery_tag)
            raise


def sentinel_kwargs(given: dict[str, Any] | None) -> dict[str, Any]:
    """Return the options of a connection to a Sentinel; `given` takes precedence.

    By default: one attempt, with a timeout of one second.
    """
    return {
        "socket_connect_timeout": SENTINEL_SECONDS,
        "socket_timeout": SENTINEL_SECONDS,
        "retry": Retry(NoBackoff(), 0),
    } | (given or {})


class ChannelChanges:
    """Changes to a channel: it reports a lost connection, finds its queues and keeps one client."""

    QoS = QoS
    connection: Any
    pool: Any
    _size: Any
    _kept: Any = None

    def _connparams(self, asynchronous: bool = False) -> dict[str, Any]:
        if getattr(self.connection, "client", None) is None:
            raise ConnectionLost("This connection to the broker was closed.")
        given: dict[str, Any] = super()._connparams(asynchronous=asynchronous)  # type: ignore[misc]
        return given

    def _create_client(self, asynchronous: bool = False) -> Any:
        """Return a client; a synchronous one is reused until the connection pool changes."""
        if asynchronous:
            return super()._create_client(asynchronous=True)  # type: ignore[misc]
        if self._kept is None or self._kept.connection_pool is not self.pool:
            self._kept = super()._create_client()  # type: ignore[misc]
        return self._kept

    def _has_queue(self, queue: str, **_: Any) -> bool:
        """Return whether the queue exists, which in Redis means that it holds a message."""
        return bool(self._size(queue))


class Channel(ChannelChanges, transport.Channel):  # type: ignore[misc]
    """kombu's channel with Valkyr's changes; connections share a lookup of the broker's name."""

    connection_class = AddressedConnection


class SentinelChannel(ChannelChanges, transport.SentinelChannel):  # type: ignore[misc]
    """kombu's channel to the primary that Sentinels name, with Valkyr's changes."""

    def _sentinel_managed_pool(self, asynchronous: bool = False) -> Any:
        self.sentinel_kwargs = sentinel_kwargs(getattr(self, "sentinel_kwargs", None))
        return super()._sentinel_managed_pool(asynchronous)  # type: ignore[misc]


class RedisTransport(transport.Transport):
    """kombu's transport to Redis, with Valkyr's channel; Redis's errors are connection errors."""

    Channel = Channel
    connection_errors = (*transport.Transport.connection_errors, ResponseError)


class SentinelTransport(transport.SentinelTransport):
    """kombu's transport to Redis through Sentinels, with Valkyr's channel."""

    Channel = SentinelChannel
    connection_errors = RedisTransport.connection_errors
