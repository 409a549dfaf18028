"""Add a message to a Redis list or stream."""

import socket

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from runners.public.modules import ErrorType, StepError, error_type_of
from valkyr_plugins.connectors.messaging.broker import (
    Broker,
    BrokerMessage,
    BrokerReceipt,
    permitted,
)

# Redis is full, loading, failing over or busy, and may accept the message later.
PASSING = (
    redis.exceptions.OutOfMemoryError,
    redis.exceptions.ReadOnlyError,
    redis.exceptions.BusyLoadingError,
)
PASSING_WORDS = ("OOM", "MASTERDOWN", "CLUSTERDOWN", "MISCONF", "NOREPLICAS", "BUSY ")


class Guarded(redis.Connection):
    """A connection of redis-py that connects only to addresses that steps may reach."""

    broker: Broker

    def _connect(self) -> socket.socket:
        failure: OSError | None = None
        for address in permitted(self.broker):
            try:
                return socket.create_connection((address, self.port), self.socket_connect_timeout)
            except OSError as error:
                failure = error
        raise failure or OSError(f"{self.host} has no address")


class GuardedTls(redis.SSLConnection, Guarded):
    """A Guarded connection with TLS: SSLConnection gets its socket from the next base class."""


def send(broker: Broker, message: BrokerMessage, seconds: float) -> BrokerReceipt:
    """Send the message; each network operation must end within `seconds`. Raises StepError."""
    kind = type("Connected", (GuardedTls if broker.tls else Guarded,), {"broker": broker})
    # The client does not retry, because the engine has its own retries with growing delays.
    pool = redis.ConnectionPool(
        connection_class=kind,
        host=broker.host,
        port=broker.port,
        db=int(broker.space),
        username=broker.user or None,
        password=broker.password or None,
        socket_timeout=seconds,
        socket_connect_timeout=seconds,
        retry=Retry(NoBackoff(), 0),
        client_name="valkyr",
        protocol=2,  # the newer protocol is not needed here, and old servers lack it
    )
    client = redis.Redis(connection_pool=pool)
    try:
        return _put(client, message)
    except redis.RedisError as error:
        said = f"{broker.name}: {type(error).__name__}: {error}"
        raise StepError(said[:1_000], _class(error)) from error
    finally:
        pool.disconnect()


def _put(client: "redis.Redis", message: BrokerMessage) -> BrokerReceipt:
    if not message.stream:
        return BrokerReceipt(length=int(client.rpush(message.queue, message.body)))
    fields = {
        **message.headers,
        "messageId": message.id,
        "contentType": message.content_type,
        "body": message.body,
    }
    entry = client.xadd(
        message.stream,
        fields,  # type: ignore[arg-type]
        maxlen=message.max_length,
        approximate=message.max_length is not None,
    )
    return BrokerReceipt(entry_id=entry.decode() if isinstance(entry, bytes) else str(entry))


def _class(error: redis.RedisError) -> ErrorType:
    if isinstance(error, PASSING) or str(error).startswith(PASSING_WORDS):
        return ErrorType.TRANSIENT
    return error_type_of(error)
