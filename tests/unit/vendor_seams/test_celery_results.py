"""Celery's Redis backend: the methods by which it watches results."""

import inspect

import pytest
from celery.backends.redis import RedisBackend

from executions.vendor_seams.celery_results import ChordCounter

WATCHING = (
    "add_pending_result", "add_pending_results", "remove_pending_result", "on_task_call",
)  # fmt: skip


@pytest.mark.parametrize("name", WATCHING)
def test_a_method_that_is_silenced_takes_what_celerys_takes(name: str) -> None:
    theirs = list(inspect.signature(getattr(RedisBackend, name)).parameters)
    ours = list(inspect.signature(getattr(ChordCounter, name)).parameters)

    assert ours == theirs, f"{name} has changed: see executions/vendor_seams/celery_results.py"


def test_celery_subscribes_in_the_methods_that_are_silenced_only() -> None:
    source = inspect.getsource(RedisBackend)

    assert source.count("result_consumer.consume_from") == 1, (
        "RedisBackend subscribes elsewhere too: see executions/vendor_seams/celery_results.py"
    )
    assert "result_consumer.consume_from" in inspect.getsource(RedisBackend.on_task_call)
