"""A worker's consumer: messages of our own kind, how full it is, and which steps it starts with.

Relies on: `Consumer.strategies`, a mapping of task names to functions called with each message;
`Consumer.task_consumer.add_queue`; `Consumer.qos.value`, the messages that the broker lets the
worker have; `celery.worker.state.reserved_requests`; `Consumer.Blueprint.default_steps` with
`DELAYS` among them (Celery 5.5 to 5.7).
No public way: Celery hands only registered tasks to a worker, and starts all default steps.
If it breaks: a worker gives no sign of life and its supervisor restarts it, or a worker on
RabbitMQ declares 28 queues that hold nothing and logs an error at its first start.
"""

from collections.abc import Callable
from typing import Any

from celery.signals import worker_init
from celery.worker import state
from kombu import Queue

DELAYS = "celery.worker.consumer.delayed_delivery:DelayedDelivery"


def listen(consumer: Any, name: str, queue: Queue, hear: Callable[..., None]) -> None:
    """Consume one more queue; messages whose task is `name` go to `hear`, not to the pool."""
    consumer.strategies[name] = hear
    consumer.task_consumer.add_queue(queue)


def full(consumer: Any) -> bool:
    """Whether as many messages are being worked on as the broker lets this worker have."""
    most = consumer.qos.value
    return bool(most) and len(state.reserved_requests) >= most


def leave_delays_out() -> None:
    """Let workers of this process start without queues for delayed messages: timers are rows."""
    worker_init.connect(_leave_delays_out, weak=False)


def _leave_delays_out(**_: Any) -> None:
    from celery.worker.consumer import Consumer  # a worker loads it anyway

    steps = Consumer.Blueprint.default_steps
    if DELAYS in steps:
        steps.remove(DELAYS)
