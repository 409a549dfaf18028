"""What Celery and kombu do with brokers that is done otherwise here.

A worker outlives the loss of its Redis broker with messages in hand. kombu's channel asks its
closed connection for an address when it puts unacknowledged messages back or acknowledges a late
one, finds none and raises AttributeError, which ends the worker ("Unrecoverable error"). Said as
what it is, a lost connection, kombu and Celery deal with it: they reconnect, and the messages are
found by the broker's visibility time-out or by the sweeper.

It outlives a Redis that refuses to write as well: a full disk (MISCONF), full memory, replicas
missing. kombu takes that for a mistake of the caller's, which ends the worker; here it is what a
broker that is away is, so the worker tries again until it may.

Asked whether a queue is there, kombu's Redis channel sends EXISTS, which is not among the commands
to which it adds the key prefix: every queue under a prefix was missing, so that the sweeper took
each backlog for lost and sent it again.

For every message that is sent or acknowledged it makes a client of its connections, 0.15 ms of the
0.6 that a message costs. Here a channel has one as long as its connections are the same.

A worker on RabbitMQ's quorum queues sets nothing up for delayed messages: 28 queues that would hold
none here, where timers are rows, and an error at every first start.
"""

from typing import Any

from celery.signals import worker_init
from kombu.transport import redis as transport
from redis.exceptions import ConnectionError as ConnectionLost
from redis.exceptions import ResponseError

DELAYS = "celery.worker.consumer.delayed_delivery:DelayedDelivery"


class Channel(transport.Channel):
    """kombu's channel, whose closed connection is a lost one, and which finds its queues."""

    _kept: Any = None

    def _connparams(self, asynchronous: bool = False) -> dict[str, Any]:
        if getattr(self.connection, "client", None) is None:
            raise ConnectionLost("This connection to the broker was closed.")
        given: dict[str, Any] = super()._connparams(asynchronous=asynchronous)  # type: ignore[misc]
        return given

    def _create_client(self, asynchronous: bool = False) -> Any:
        """A client of the channel's connections; the same one as long as these are the same."""
        if asynchronous:
            return super()._create_client(asynchronous=True)  # type: ignore[misc]
        if self._kept is None or self._kept.connection_pool is not self.pool:
            self._kept = super()._create_client()  # type: ignore[misc]
        return self._kept

    def _has_queue(self, queue: str, **_: Any) -> bool:
        """In Redis a queue is there as long as it holds a message."""
        return bool(self._size(queue))


def use() -> None:
    """Let kombu's Redis transport make such channels in this process, and leave that step out."""
    transport.Transport.Channel = Channel
    known = transport.Transport.connection_errors
    if ResponseError not in known:
        transport.Transport.connection_errors = (*known, ResponseError)
    worker_init.connect(_leave_delays_out, weak=False)


def _leave_delays_out(**_: Any) -> None:
    from celery.worker.consumer import Consumer  # a worker loads it anyway

    steps = Consumer.Blueprint.default_steps
    if DELAYS in steps:
        steps.remove(DELAYS)
