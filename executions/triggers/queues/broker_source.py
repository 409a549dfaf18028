"""A queue of any other broker that kombu knows, such as RabbitMQ; the queue must exist.

A message is fetched alone, so nothing is prefetched. What is not acknowledged when the connection
ends, the broker delivers again; whether that starts it twice depends on the sender's message id.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from kombu import Connection
from uuid6 import uuid7

from executions.triggers.queues.message import QueueMessage, Unreadable, id_of
from executions.triggers.queues.source import Lost

TIMEOUT_SECONDS = 5.0


class BrokerSource:
    """Reads with `basic_get`."""

    def __init__(self, url: str, queue: str) -> None:
        self._url = url
        self._queue = queue
        self._connection: Connection | None = None
        self._channel: Any = None
        self._held: Any = None

    def get(self) -> QueueMessage | None:
        """As Source."""
        with self._loss():
            channel = self._open()
            found = channel.basic_get(queue=self._queue, no_ack=False)
            if found is None:
                return None
            self._held = held = channel.message_to_python(found)
        body = held.body if isinstance(held.body, bytes) else str(held.body).encode()
        problem = None
        if held.errors:
            problem = Unreadable("unreadable", f"The message cannot be opened: {held.errors[0]}.")
        headers = dict(held.headers or {})
        name = id_of(held.properties or {}, headers)
        return QueueMessage(body, headers, name, uuid7(), lasting=False, problem=problem)

    def acknowledge(self) -> None:
        """As Source; what a lost connection held is not ours any more and comes again."""
        with self._loss():
            if self._held is not None:
                self._held.ack()

    def give_back(self) -> None:
        """As Source."""
        with self._loss():
            if self._held is not None:
                self._held.requeue()

    def close(self) -> None:
        """As Source."""
        connection, self._connection = self._connection, None
        self._channel = self._held = None
        if connection is not None:
            with suppress(*connection.connection_errors, *connection.channel_errors, OSError):
                connection.release()

    def _open(self) -> Any:
        if self._channel is None:
            self._connection = Connection(self._url, connect_timeout=TIMEOUT_SECONDS)
            self._channel = self._connection.channel()
        return self._channel

    @contextmanager
    def _loss(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            connection = self._connection
            if connection is None:
                raise
            expected = (*connection.connection_errors, *connection.channel_errors, OSError)
            if not isinstance(error, expected):
                raise
            self.close()
            raise Lost(str(error)) from error
