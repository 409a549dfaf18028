"""A worker's consumer: the parts that receive Valkyr's messages."""

import inspect

from celery.worker import state
from celery.worker.consumer import Consumer, consumer
from celery.worker.consumer.tasks import Tasks
from kombu.common import QoS

from executions.vendor_seams.celery_consumer import DELAYS

SEE = "a worker's consumer has changed: see executions/vendor_seams/celery_consumer.py"


def test_messages_go_to_the_strategy_of_their_name() -> None:
    assert "self.strategies = " in inspect.getsource(Consumer.__init__), SEE
    assert "strategy = strategies[type_]" in inspect.getsource(Consumer.create_task_handler), SEE


def test_a_consumer_has_its_queues_and_its_limit_once_tasks_has_started() -> None:
    source = inspect.getsource(Tasks.start)

    assert "c.task_consumer = " in source, SEE
    assert "c.qos = QoS(" in source, SEE
    assert QoS(lambda prefetch_count: None, 3).value == 3, SEE


def test_requests_that_are_worked_on_are_counted() -> None:
    assert len(state.reserved_requests) == 0, SEE
    assert "reserved_requests" in inspect.getsource(state.task_reserved), SEE


def test_celery_would_set_queues_up_for_delayed_messages() -> None:
    assert DELAYS in inspect.getsource(consumer) or DELAYS.split(":")[1] in inspect.getsource(
        consumer
    ), SEE
