"""Sending messages: the state that remains in the sending process, and the time without Redis."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID, uuid4

import pytest
from celery import current_app
from celery._state import _task_stack

from runners.dispatch import messages as dispatch
from runners.dispatch.canvas import Chain, Chord, Parcel, SegmentLink
from runners.models import Run
from tests.support.cut_line import cut_line
from tests.support.fleet import publishing_to
from tests.support.folders import passable_folder
from tests.support.outages import redis_away
from tests.support.workflows import publish, start, task
from valkyr_project.embedded import Redis

BRANCHES = tuple(SegmentLink(f"branch{n}.main", "default", f"branch {n}") for n in range(20))


@pytest.fixture(scope="module")
def redis() -> Iterator[Redis]:
    with passable_folder() as home:
        server = Redis(home, durable=False)
        server.start()
        with publishing_to(server.url):
            yield server
        server.stop()


def send(*canvas: Chain | Chord) -> None:
    dispatch.publish([Parcel(uuid4(), uuid4(), 5, canvas)])


def test_a_chord_that_is_sent_is_not_waited_for(redis: Redis) -> None:
    send(Chord(BRANCHES))
    assert current_app.backend.result_consumer.subscribed_to == set()
    assert current_app.backend.client.pubsub_channels() == []


def test_a_higher_priority_is_taken_first_of_all_ten(redis: Redis) -> None:
    queue = f"priorities-{uuid4().hex}"
    shuffled = [5, 0, 9, 3, 4, 8, 1, 7, 2, 6]
    for priority in shuffled:
        chain = Chain((SegmentLink(f"step{priority}.main", queue, "a step"),))
        dispatch.publish([Parcel(uuid4(), uuid4(), priority, (chain,))])
    taken = []
    with current_app.connection_for_read() as link, link.SimpleQueue(queue) as messages:
        for _ in shuffled:
            message = messages.get(timeout=60)
            taken.append(message.payload[0][2])
            message.ack()
    assert taken == [f"step{priority}.main" for priority in range(9, -1, -1)]


def test_a_channel_makes_one_client_for_all_its_messages(redis: Redis) -> None:
    with current_app.connection_for_write() as link:
        channel = link.default_channel
        client = channel._create_client()
        assert channel._create_client() is client
        channel._disconnect_pools()
        assert channel._create_client() is not client, "its connections are closed"
        assert channel._create_client().ping()


@pytest.mark.django_db
def test_without_redis_sending_gives_up_quickly_and_raises_nothing(redis: Redis) -> None:
    send(Chord(BRANCHES))
    with redis_away(redis):
        began = time.monotonic()
        send(Chord(BRANCHES), Chain(BRANCHES[:2]))
        assert time.monotonic() - began < 2
    send(Chord(BRANCHES))
    assert current_app.backend.client.dbsize() > 0, "what is sent when it is back arrives"


@pytest.mark.django_db
def test_a_message_that_cannot_be_made_is_not_tried_each_second() -> None:
    execution = start(publish({"tasks": [task("only")]}))
    [run] = Run.objects.filter(execution=execution)
    bad: Any = object()  # no queue has this name
    canvas = Chain((SegmentLink(run.segment, bad, "only"),))

    dispatch.publish([Parcel(execution, uuid4(), 5, (canvas,))])

    run.refresh_from_db()
    assert run.published_at is not None


def test_many_that_go_together_arrive_though_the_line_is_cut_amid_them(redis: Redis) -> None:
    queue = f"cut-{uuid4().hex}"
    with cut_line(redis.url, most=10_000) as line, publishing_to(line.url):
        sent = send_many(30, queue)
        assert line.cuts == 1
    assert set(taken_from(queue)) == set(sent)


def test_many_go_out_with_a_few_writes_and_not_one_each(redis: Redis) -> None:
    queue = f"many-{uuid4().hex}"
    send_many(1, queue)
    before = current_app.backend.client.info("stats")["total_reads_processed"]
    sent = send_many(200, queue)
    after = current_app.backend.client.info("stats")["total_reads_processed"]
    assert after - before < 50
    assert taken_from(queue)[1:] == sent


def test_messages_of_a_batch_are_those_that_celery_makes_but_for_their_ids(redis: Redis) -> None:
    queue = f"alike-{uuid4().hex}"
    version = uuid4()
    for number in (1, 3):
        send_many(number, queue, version)
    alone, *together = [told(message) for message in messages_in(queue)]
    assert len(together) == 3
    assert [about for about, _ in together] == [alone[0]] * 3
    ids = [own for _, own in (alone, *together)]
    assert all(own["id"] == own["root_id"] == own["correlation_id"] for own in ids)
    assert all(own["execution"] in own["argsrepr"] for own in ids)
    for name in ("id", "execution", "argsrepr", "delivery_tag"):
        assert len({own[name] for own in ids}) == 4, name


def test_what_is_known_of_a_message_holds_for_the_next_request_but_in_no_task(
    redis: Redis,
) -> None:
    queue, version = f"alike-{uuid4().hex}", uuid4()
    ids = send_many(1, queue, version)
    ids += send_many(1, queue, version)
    with task_under_way("celery.accumulate") as parent:
        ids += send_many(1, queue, version)
    ids += send_many(1, queue, version)
    messages = messages_in(queue)
    assert [message.payload[0][0] for message in messages] == ids
    assert [m.headers["parent_id"] for m in messages] == [None, None, parent, None]
    assert messages[2].headers["root_id"] == parent
    assert told(messages[0])[0] == told(messages[1])[0] == told(messages[3])[0]


def test_a_queue_is_declared_over_every_connection(redis: Redis) -> None:
    queue, version = f"declared-{uuid4().hex}", uuid4()
    send_many(1, queue, version)
    client = current_app.backend.client
    [binding] = client.keys(f"*_kombu.binding.{queue}")
    client.delete(binding)
    send_many(1, queue, version)
    assert not client.exists(binding), "once over one connection"
    with publishing_to(redis.url):
        send_many(1, queue, version)
    assert client.exists(binding)
    assert len(messages_in(queue)) == 3


@contextmanager
def task_under_way(name: str) -> Iterator[str]:
    """Run the block as a worker's task; yield its id."""
    task, own = current_app.tasks[name], str(uuid4())
    task.push_request(id=own, root_id=own, called_directly=False)
    _task_stack.push(task)
    try:
        yield own
    finally:
        _task_stack.pop()
        task.pop_request()


def told(message: Any) -> tuple[Any, dict[str, Any]]:
    """Return a message's contents: the part that all messages of its kind share, and the message's
    own part.
    """
    headers, properties = dict(message.headers), dict(message.properties)
    (execution, *others), *rest = message.payload
    own = {"execution": execution, "correlation_id": properties.pop("correlation_id")}
    own |= {name: headers.pop(name) for name in ("id", "root_id", "argsrepr")}
    own |= {"delivery_tag": properties.pop("delivery_tag")}
    about = (headers, properties, others, rest, message.content_type, message.content_encoding)
    return about, own


def send_many(number: int, queue: str, version: UUID | None = None) -> list[str]:
    """Send a message together for each of several executions of a version; return their ids in
    order.
    """
    chain = Chain((SegmentLink("step.main", queue, "a step"),))
    version = version or uuid4()
    parcels = [Parcel(uuid4(), version, 5, (chain,)) for _ in range(number)]
    dispatch.publish(parcels)
    return [str(parcel.execution_id) for parcel in parcels]


def taken_from(queue: str) -> list[str]:
    """Return the executions of the waiting messages, in the order in which a worker gets them."""
    return [message.payload[0][0] for message in messages_in(queue)]


def messages_in(queue: str) -> list[Any]:
    """Take the waiting messages from the queue, and return them."""
    found = []
    with current_app.connection_for_read() as link, link.SimpleQueue(queue) as messages:
        for _ in range(len(messages)):
            found.append(messages.get(timeout=60))
            found[-1].ack()
    return found
