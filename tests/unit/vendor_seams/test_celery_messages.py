"""Copies of Celery's messages equal the messages that Celery would have published."""

from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

from celery import Signature, current_app

from executions.vendor_seams.celery_messages import Alike

OWN = {"id", "root_id"}


def test_a_copy_is_the_message_that_celery_makes_but_for_its_ids() -> None:
    queue, first, other = f"seam-{uuid4()}", uuid4(), uuid4()

    def make(execution: UUID) -> Callable[[], Signature]:
        given = (str(execution), "version", "segment")
        return lambda: current_app.signature(
            "runners.run_segment", args=given, immutable=True, queue=queue, priority=3, shadow="a"
        )

    with current_app.producer_or_acquire() as producer:
        alike = Alike(producer)
        alike.send("kind", first, make(first))
        alike.send("kind", other, make(other))
        make(other)().apply_async(producer=producer, ignore_result=True)
        with producer.connection.SimpleQueue(queue) as box:
            sent = [box.get(timeout=60) for _ in range(3)]
            for message in sent:
                message.ack()
    _, copied, made = sent

    see = "Celery's messages have changed: see executions/vendor_seams/celery_messages.py"
    assert copied.payload == made.payload, see
    assert rest(copied.headers) == rest(made.headers), see
    assert rest(copied.properties) == rest(made.properties), see
    assert copied.headers["id"] == copied.headers["root_id"] == copied.properties["correlation_id"]
    assert copied.headers["id"] != made.headers["id"]


def rest(told: dict[str, Any]) -> dict[str, Any]:
    return {
        key: value
        for key, value in told.items()
        if key not in OWN | {"correlation_id", "delivery_tag"}
    }
