"""Check that a worker still receives messages: it sends a message to itself and waits for it.

The worker receives the message over the same connection, channel and loop as the steps' messages.
After a broker outage, a consumer can run and answer pings but receive no messages; such a worker
does not renew its sign of life. While all slots of the pool are busy, the broker withholds all
messages, including this one; a busy worker therefore counts as healthy.
"""

import logging
import time
from functools import partial
from typing import Any
from uuid import uuid4

from celery import bootsteps
from celery.worker.consumer.tasks import Tasks
from kombu import Exchange, Queue
from kombu.exceptions import OperationalError

from executions import messaging
from executions.vendor_seams.celery_consumer import full, listen
from runners.process import signs_of_life

log = logging.getLogger(__name__)
NAME = "runners.canary"
FORGOTTEN_SECONDS = 600.0
CONNECT_SECONDS = 2
# How many seconds a worker may try to reach an unavailable broker before it counts as stuck.
RECONNECT_SECONDS = 600.0


class Consuming(bootsteps.StartStopStep):
    """The check as a consumer step, which Celery restarts with every connection to the broker."""

    requires = (Tasks,)

    def __init__(self, parent: Any, **kwargs: Any) -> None:
        """Start with no message sent or received."""
        super().__init__(parent, **kwargs)
        self._timer: Any = None
        self._sent_at = self._heard_at = float("-inf")
        self._refused = False

    def start(self, parent: Any) -> None:
        """Start listening, send a message immediately, and check periodically."""
        queue = _own_queue(parent.hostname)
        name = queue.name
        listen(parent, NAME, queue, partial(self._hear, parent.connection_errors))
        self._timer = parent.timer.call_repeatedly(every(), self._look, (parent, name))
        # A new worker counts as healthy until its first message has had time to return.
        self._heard(parent, "started")
        self._send(parent, name)

    def stop(self, parent: Any) -> None:
        """Stop the checks until the next connection; the next sign of life may be 600 s late.

        A restart of the worker would not bring the broker back, but would end the running steps.
        """
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._give(parent, "without a broker", grace=RECONNECT_SECONDS)

    def shutdown(self, parent: Any) -> None:
        """Stop the checks, and remove the worker's sign of life."""
        self.stop(parent)
        signs_of_life.take_back("worker")

    def _look(self, parent: Any, name: str) -> None:
        if self._heard_at >= self._sent_at:
            self._heard(parent, "consuming")
            self._send(parent, name)
        elif full(parent):
            self._heard(parent, "all its slots are busy")
        elif self._refused:
            self._send(parent, name)
        elif time.monotonic() - self._sent_at > signs_of_life.patience():
            log.warning(
                "no message has reached this worker for a while; it sends itself another one"
            )
            self._send(parent, name)

    def _hear(self, errors: tuple[type[Exception], ...], message: Any, *_: Any, **__: Any) -> None:
        """Record that this worker received its own message."""
        message.ack_log_error(log, errors)
        self._heard_at = time.monotonic()

    def _send(self, parent: Any, name: str) -> None:
        """Send the message over a separate connection; a stuck broker then blocks only briefly."""
        options = {"socket_connect_timeout": CONNECT_SECONDS, "socket_timeout": CONNECT_SECONDS}
        redis = messaging.is_redis(messaging.broker_url())
        self._sent_at = time.monotonic()
        self._refused = False
        try:
            with parent.app.connection_for_write(
                connect_timeout=CONNECT_SECONDS,
                transport_options={**parent.app.conf.broker_transport_options, **options}
                if redis
                else {},
            ) as link:
                # Try each server of a list such as amqp://a//;amqp://b// once.
                link.ensure_connection(
                    max_retries=max(0, len(link.alt) - 1), timeout=CONNECT_SECONDS
                )
                link.Producer().publish(
                    {},
                    exchange="",
                    routing_key=name,
                    headers={"task": NAME, "id": name},
                    expiration=FORGOTTEN_SECONDS,
                    delivery_mode=1,
                )
        except (OSError, OperationalError) as error:
            self._refused = True
            log.warning("this worker could not send itself a message (%s)", error)

    def _heard(self, parent: Any, what: str) -> None:
        global _proven_at  # noqa: PLW0603 - one worker a process
        _proven_at = time.monotonic()
        self._give(parent, what)

    def _give(self, parent: Any, what: str, grace: float = 0.0) -> None:
        queues = tuple(messaging.ours_among(parent.app.amqp.queues.consume_from))
        try:
            signs_of_life.give("worker", parent.hostname, what, queues, grace)
        except OSError as error:
            log.warning(
                "the sign of life cannot be written in %s (%s)", signs_of_life.folder(), error
            )


def _own_queue(hostname: str) -> Queue:
    """Return a queue that ends with the connection, if the broker supports such queues (RabbitMQ).

    In a cluster, a queue that outlives its connection is on one node. While that node is down, a
    worker cannot declare the queue on any other node.
    """
    name = f"canary.{hostname}"
    if messaging.is_redis(messaging.broker_url()):
        return Queue(name, Exchange(""), routing_key=name, expires=FORGOTTEN_SECONDS)
    own = f"{name}.{uuid4().hex}"
    return Queue(own, Exchange(""), routing_key=own, exclusive=True, durable=False)


def every() -> float:
    """Return the seconds between two checks; a worker is unhealthy after four failed checks."""
    return signs_of_life.patience() / 4


def proven() -> bool:
    """Return whether the worker has recently shown that it receives messages."""
    return time.monotonic() - _proven_at <= signs_of_life.patience()


_proven_at = float("-inf")
