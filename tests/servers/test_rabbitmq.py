"""RabbitMQ with quorum queues as the broker: dispatch, chords, lost messages, a killed node."""

import os
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest
from celery import current_app
from kombu import Connection
from kombu.exceptions import OperationalError

from executions.models import WorkflowExecution
from tests.servers.graphs import TASKS
from tests.support import rabbitmq
from tests.support.auditor import audit
from tests.support.fleet import QUICK, Fleet
from tests.support.outages import kill, wait_for_mark
from tests.support.rabbitmq import RabbitMQ, publishing_to
from tests.support.relay import relay
from tests.support.waiting import wait_until
from tests.support.workflows import effect, publish, start, start_many, wait_for_end

pytestmark = [
    pytest.mark.skipif(
        bool(rabbitmq.missing()) and not os.environ.get("CI"), reason=rabbitmq.missing()
    ),
]


@pytest.fixture(scope="module")
def node(home: Path) -> Iterator[RabbitMQ]:
    made = RabbitMQ(home)
    try:
        made.start()
        yield made
    finally:
        made.stop()


@pytest.fixture(scope="module")
def fleet(engine: None, node: RabbitMQ, home: Path) -> Iterator[Fleet]:
    made = Fleet(home, os.environ["REDIS_URL"], QUICK, broker_url=node.url)
    try:
        made.worker("control", "control", "threads", 2)
        made.worker("default", "default", "prefork", 2)
        made.worker("io", "io", "threads", 4)
        made.beat()
        made.ensure()
        with publishing_to(node.url):
            yield made
    finally:
        made.stop()


def test_executions_end_over_quorum_queues(fleet: Fleet, node: RabbitMQ) -> None:
    ids = start_many(publish({"tasks": TASKS}), [{}] * 10)

    assert set(wait_for_end(ids).values()) == {"SUCCESS"}
    audit(ids)
    with Connection(node.url) as link:
        for queue in ("default", "io", "control"):
            # A queue that is declared differently is rejected.
            link.default_channel.queue_declare(
                queue, durable=True, auto_delete=False, arguments={"x-queue-type": "quorum"}
            )


def test_a_killed_childs_step_goes_on_at_once(fleet: Fleet) -> None:
    execution = start(publish({"tasks": [effect("work", hangSeconds=50)]}))
    mark = wait_for_mark(execution)

    kill(mark["pid"])
    again = wait_for_mark(execution, number=2)

    assert again["token"] > mark["token"]
    assert wait_for_end([execution])[execution] == "SUCCESS"
    audit([execution])


def test_nothing_is_lost_when_the_node_is_killed_and_comes_back_empty(
    fleet: Fleet, node: RabbitMQ
) -> None:
    ids = start_many(publish({"tasks": TASKS}), [{}] * 20)
    wait_until(lambda: _ended(ids) >= 2, 60, "the end of the first two")

    node.kill()
    node.forget()
    node.start()

    assert set(wait_for_end(ids, 90).values()) == {"SUCCESS"}
    assert all(member.alive() for member in fleet.members.values())
    audit(ids)


def test_who_sends_does_not_wait_for_a_node_that_does_not_answer(node: RabbitMQ) -> None:
    with relay(node.url) as between:
        confirmed = {"confirm_publish": True}
        link = current_app.connection_for_write(between.url, transport_options=confirmed)
        queue = link.SimpleQueue("unanswered")
        queue.put({})
        between.cut("back")

        with pytest.raises(OperationalError, match="no confirmation"):
            queue.put({}, retry=True)
        between.mend()
        queue.put({}, retry=True)  # over a new connection
        link.release()


def _ended(ids: list[UUID]) -> int:
    return WorkflowExecution.objects.filter(pk__in=ids, finished_at__isnull=False).count()
