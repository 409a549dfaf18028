"""A worker's consumer: the messages that it handles itself, its load, and its startup steps.

Relies on: `Consumer.strategies`, a mapping of task names to functions called with each message;
`Consumer.task_consumer.add_queue`; `Consumer.qos.value`, the number of messages that the broker
gives the worker at a time; `celery.worker.state.reserved_requests`;
`Consumer.Blueprint.default_steps` with `DELAYS` among them (Celery 5.5 to 5.7).
No public way: a worker handles only messages of registered tasks, and starts all default steps.
If it breaks: a worker does not report that it is alive, and its supervisor restarts it. Or a worker
on RabbitMQ declares 28 empty queues and logs an error at its first start.
"""

from collections.abc import Callable
from typing import Any

from celery.signals import worker_init
from celery.worker import state
from kombu import Queue

DELAYS = "celery.worker.consumer.delayed_delivery:DelayedDelivery"


def listen(consumer: Any, name: str, queue: Queue, hear: Callable[..., None]) -> None:
    """Consume a further queue; pass messages whose task is `name` to `hear`, not to the pool."""
    consumer.strategies[name] = hear
    consumer.task_consumer.add_queue(queue)


def full(consumer: Any) -> bool:
    """Return whether the worker holds as many messages as the broker gives it at a time."""
    most = consumer.qos.value
    return bool(most) and len(state.reserved_requests) >= most


def leave_delays_out() -> None:
    """Make this process's workers declare no queues for delayed messages: Valkyr uses none."""
    worker_init.connect(_leave_delays_out, weak=False)


def _leave_delays_out(**_: Any) -> None:
    from celery.worker.consumer import Consumer  # a worker loads it anyway

    steps = Consumer.Blueprint.default_steps
    if DELAYS in steps:
        steps.remove(DELAYS)
