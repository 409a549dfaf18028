"""A worker outlives the loss of its Redis broker with messages in hand.

kombu's channel asks its closed connection for an address when it puts unacknowledged messages back
or acknowledges a late one, finds none and raises AttributeError, which ends the worker
("Unrecoverable error"). Said as what it is, a lost connection, kombu and Celery deal with it: they
reconnect, and the messages are found by the broker's visibility time-out or by the sweeper.
"""

from typing import Any

from kombu.transport import redis as transport
from redis.exceptions import ConnectionError as ConnectionLost


class Channel(transport.Channel):
    """kombu's channel, whose closed connection is a lost one."""

    def _connparams(self, asynchronous: bool = False) -> dict[str, Any]:
        if getattr(self.connection, "client", None) is None:
            raise ConnectionLost("This connection to the broker was closed.")
        given: dict[str, Any] = super()._connparams(asynchronous=asynchronous)  # type: ignore[misc]
        return given


def use() -> None:
    """Let kombu's Redis transport make such channels in this process."""
    transport.Transport.Channel = Channel
