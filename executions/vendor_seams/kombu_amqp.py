"""kombu's channel for RabbitMQ, with a time limit for each answer.

A cluster without a majority accepts a message and never confirms it, and a frozen node does not
answer. py-amqp waits for both without a timeout: web requests, beat and workers that send messages
would hang until the cluster recovers.

Relies on: `wait(method, callback, timeout, returns_tuple)` of a channel and of a connection waits
for every response from the broker except deliveries; `Channel.basic_publish_confirm(*args,
confirm_timeout)` waits for a confirmation; `Transport.Connection` and `Connection.Channel` (py-amqp
5.2 to 5.4, kombu 5.5 to 5.7).
No public way: each message has an option for the timeout of its confirmation, and other answers
have none.
If it breaks: requests hang while a cluster has no majority.
"""

from typing import Any

from kombu.exceptions import OperationalError
from kombu.transport import pyamqp

ANSWER_SECONDS, CONFIRMATION_SECONDS = 5.0, 2.0


class LimitedWait:
    """Limits the wait for the broker's answer; a late answer is treated as a lost connection."""

    def wait(
        self,
        method: Any,
        callback: Any = None,
        timeout: float | None = None,
        returns_tuple: bool = False,
    ) -> Any:
        """Wait for a response from the broker. Raises TimeoutError."""
        limit = timeout or ANSWER_SECONDS
        waited: Any = super()
        return waited.wait(method, callback, timeout=limit, returns_tuple=returns_tuple)


class LimitedChannel(LimitedWait, pyamqp.Channel):
    """kombu's channel, which waits only for a limited time for answers and confirmations."""

    def basic_publish_confirm(self, *args: Any, **kwargs: Any) -> Any:
        """Send a message and wait for its confirmation. Raises OperationalError.

        kombu retries after other errors, but not after this one. The connection is closed: a late
        confirmation would count as the confirmation of the next message.
        """
        limit = kwargs.pop("confirm_timeout", None) or CONFIRMATION_SECONDS
        try:
            return super().basic_publish_confirm(*args, confirm_timeout=limit, **kwargs)
        except TimeoutError as error:
            if self.connection is not None:
                self.connection.collect()
            raise OperationalError(f"no confirmation of the broker within {limit:g} s") from error


class LimitedConnection(LimitedWait, pyamqp.Connection):
    """A connection that, like its channels, waits a limited time for the broker's answers."""

    Channel = LimitedChannel


class AmqpTransport(pyamqp.Transport):
    """kombu's transport to RabbitMQ, with limited waits for the broker's answers."""

    Connection = LimitedConnection


class AmqpsTransport(pyamqp.SSLTransport):
    """kombu's transport to RabbitMQ over TLS, with limited waits for the broker's answers."""

    Connection = LimitedConnection
