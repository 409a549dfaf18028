"""QUEUE triggers: `manage.py consume` as a separate process, on a real Redis and PostgreSQL."""

import base64
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import redis
from django.conf import settings
from django.db import connection
from kombu import Connection

from executions.errors import NotFound
from executions.models import RefusedMessage, Tier, Trigger, Workflow, WorkflowExecution
from executions.payloads import STORED
from executions.sealing import payload_keys
from executions.sealing import store as keyset
from executions.triggers.queues import intake
from executions.triggers.queues import refused_messages as refused
from executions.triggers.queues import sources as opening
from executions.triggers.queues.consumer import Consumer
from executions.triggers.queues.message import QueueMessage
from executions.triggers.queues.sources import BrokerSource, RedisSource, in_flight_key
from executions.triggers.sync import switch
from tests.support.consuming import Consuming
from tests.support.fleet import database_url
from tests.support.payload_store import TEXT, use_store
from tests.support.stack import PROJECT
from tests.support.triggers import NAMED, only_trigger, triggered
from tests.support.waiting import wait_until
from tests.support.workflows import ACTOR, limited_workspace

pytestmark = pytest.mark.django_db(transaction=True)

Executions = WorkflowExecution.objects


@pytest.fixture
def store() -> Iterator[redis.Redis]:
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        yield client


@pytest.fixture
def queue() -> str:
    return f"orders-{uuid4().hex[:8]}"


@pytest.fixture
def trigger(queue: str) -> Trigger:
    return only_trigger(triggered({"type": "QUEUE", "queue": queue}))


@pytest.fixture
def put(queue: str) -> Callable[..., None]:
    """Return a function that sends a message as a program with kombu does."""

    def send(payload: Any, **properties: Any) -> None:
        with Connection(settings.REDIS_URL) as broker, broker.SimpleQueue(queue) as simple:
            simple.put(payload, **properties)

    return send


def consume(trigger: Any, *options: str, **environment: str) -> str:
    """Run `consume` until it ends; return its output."""
    with Consuming(trigger, *options, **environment) as consuming:
        assert consuming.wait() == 0, consuming.text
        return consuming.text


def from_a_shell(trigger: Any, *options: str, code: int = 0) -> str:
    """Run `consume` as a user does, in a new Python process that loads everything; return its
    output.
    """
    done = subprocess.run(
        [sys.executable, "manage.py", "consume", str(trigger), *options],
        cwd=PROJECT,
        env=os.environ | {"DATABASE_URL": database_url()},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def payloads() -> list[Any]:
    return list(Executions.order_by("created_at", "id").values_list("trigger_payload", flat=True))


def in_flight(store: redis.Redis, trigger: Trigger) -> int:
    return int(store.hlen(in_flight_key(trigger.settings["queue"], trigger.pk)))


def test_every_message_starts_an_execution(
    trigger: Trigger, queue: str, put: Callable[..., None], store: redis.Redis
) -> None:
    for number in range(3):
        put({"order": number})

    text = from_a_shell(f"{trigger.workflow.slug}:{queue}", "--once")

    assert payloads() == [{"order": 0}, {"order": 1}, {"order": 2}]
    execution = Executions.first()
    assert execution is not None
    assert (execution.trigger_type, execution.trigger_id) == ("QUEUE", trigger.pk)
    assert f"consuming {queue} at redis://127.0.0.1" in text
    assert "3 started, 0 known, 0 refused" in text
    assert "@" not in text
    assert store.llen(queue) == in_flight(store, trigger) == 0


def test_plain_json_of_a_list_is_taken_in_its_order(
    trigger: Trigger, queue: str, store: redis.Redis
) -> None:
    store.rpush(queue, '{"order": 1}', '{"order": 2}', '"text"', "{", "\xe9".encode("latin1"))

    consume(trigger.pk, "--once", "--raw")

    assert payloads() == [{"order": 1}, {"order": 2}, "text"]
    codes = RefusedMessage.objects.order_by("created_at").values_list("code", "body")
    assert list(codes) == [("not_json", "{"), ("not_utf8", "\ufffd")]


def test_it_waits_for_messages_until_it_is_told_to_stop(
    trigger: Trigger, put: Callable[..., None]
) -> None:
    with Consuming(trigger.pk) as consuming:
        consuming.wait_for("consuming")
        put({"order": 1})
        wait_until(Executions.exists, 30, "an execution")

        assert "1 started, 0 known, 0 refused" in consuming.stop()


def test_it_ends_after_so_many_messages(
    trigger: Trigger, queue: str, put: Callable[..., None], store: redis.Redis
) -> None:
    for number in range(3):
        put(number)

    assert "2 started" in consume(trigger.workflow.slug, "--limit", "2")
    assert store.llen(queue) == 1


def test_a_known_message_id_starts_nothing_again(
    trigger: Trigger, put: Callable[..., None]
) -> None:
    put({"order": 1}, message_id="m-1")
    put({"order": 1}, message_id="m-1")
    put({"order": 1}, headers={"id": "m-2"})
    put({"order": 2}, message_id="m-1")

    text = consume(trigger.pk, "--once")

    assert "2 started, 1 known, 1 refused" in text
    assert Executions.count() == 2
    assert RefusedMessage.objects.get().code == "key_reused"


def test_bad_messages_are_kept_and_stop_nothing(
    queue: str, put: Callable[..., None], store: redis.Redis
) -> None:
    trigger = only_trigger(triggered({"type": "QUEUE", "queue": queue}, input=NAMED))
    store.lpush(queue, "no envelope", '{"properties": []}')
    put({"name": 5}, headers={"source": "shop"})
    put({"name": "x" * 1024 * 1024})
    put({"name": "a\x00b"})
    put({"name": "fine"})

    text = consume(trigger.pk, "--once")

    assert payloads() == [{"name": "fine"}]
    assert "1 started, 0 known, 5 refused" in text
    rows = list(RefusedMessage.objects.order_by("created_at"))
    assert [row.code for row in rows] == [
        "not_kombu", "not_kombu", "invalid_payload", "too_large", "bad_value",
    ]  # fmt: skip
    assert "--raw" in rows[0].reason
    assert "params.name" in rows[2].reason
    assert rows[2].headers == {"source": "shop"}
    assert json.loads(rows[2].body) == {"name": 5}
    assert len(rows[3].body) == intake.KEPT_BYTES
    assert store.llen(queue) == in_flight(store, trigger) == 0


@pytest.mark.parametrize("raw", [True, False])
def test_a_consumer_killed_before_it_acknowledges_starts_nothing_twice(
    raw: bool, trigger: Trigger, queue: str, put: Callable[..., None], store: redis.Redis
) -> None:
    options = ["--raw"] if raw else []
    for number in range(2):
        if raw:
            store.rpush(queue, json.dumps({"order": number}))
        else:
            put({"order": number})
    with Consuming(trigger.pk, *options, dying=True) as consuming:
        assert consuming.wait() == -signal.SIGKILL, consuming.text
    assert in_flight(store, trigger) == 1
    assert Executions.count() == 1

    text = consume(trigger.pk, "--once", *options)

    assert "1 started, 1 known, 0 refused" in text
    assert payloads() == [{"order": 0}, {"order": 1}]
    assert in_flight(store, trigger) == 0


def test_a_refused_message_of_a_killed_consumer_is_kept_once(
    trigger: Trigger, queue: str, store: redis.Redis
) -> None:
    store.rpush(queue, "{")
    with Consuming(trigger.pk, "--raw", dying=True) as consuming:
        assert consuming.wait() == -signal.SIGKILL, consuming.text

    assert "1 refused" in consume(trigger.pk, "--once", "--raw")
    assert RefusedMessage.objects.count() == 1


def test_consumers_killed_at_any_time_start_every_message_once(
    trigger: Trigger, queue: str, store: redis.Redis
) -> None:
    total = 600
    for number in range(total):
        store.rpush(queue, json.dumps(number))

    for goal in (1, 100, 250):
        with Consuming(trigger.pk, "--raw") as one, Consuming(trigger.pk, "--raw") as other:
            wait_until(lambda goal=goal: Executions.count() >= goal, 60, f"{goal} executions")
            one.process.kill()
            other.process.kill()
    consume(trigger.pk, "--once", "--raw")

    assert sorted(payloads()) == list(range(total))
    assert in_flight(store, trigger) == store.llen(queue) == 0


def test_a_full_workspace_lets_messages_wait(queue: str, store: redis.Redis) -> None:
    workspace = limited_workspace(0, waiting=1)
    trigger = only_trigger(triggered({"type": "QUEUE", "queue": queue}, workspace=workspace))
    store.rpush(queue, "1", "2")

    with Consuming(trigger.pk, "--raw") as consuming:
        consuming.wait_for("waiting: ")
        assert (Executions.count(), store.llen(queue)) == (1, 1)
        text = consuming.stop()

    assert "1 started" in text
    assert store.lrange(queue, 0, -1) == [b"2"]
    assert not RefusedMessage.objects.exists()
    Tier.objects.filter(pk=workspace.tier_id).update(max_pending=2)
    assert "1 started" in consume(trigger.pk, "--once", "--raw")
    assert payloads() == [1, 2]


@pytest.mark.parametrize("what", ["workflow", "trigger"])
def test_messages_wait_while_they_may_not_start_anything(
    what: str, trigger: Trigger, queue: str, put: Callable[..., None], store: redis.Redis
) -> None:
    def enable(enabled: bool) -> None:
        if what == "workflow":
            Workflow.objects.filter(pk=trigger.workflow_id).update(enabled=enabled)
        else:
            switch(trigger.pk, enabled=enabled, actor=ACTOR)

    put({"order": 1})
    put({"order": 2})
    enable(False)

    text = consume(trigger.pk, "--once")
    enable(True)

    assert "stopping with messages left" in text
    assert store.llen(queue) == 2
    consume(trigger.pk, "--once")
    assert payloads() == [{"order": 1}, {"order": 2}]
    assert not RefusedMessage.objects.exists()


def consume_here(trigger: Trigger, queue: str) -> dict[str, int]:
    """Run a consumer in this process until the queue is empty or a message must wait."""
    source = RedisSource(settings.REDIS_URL, queue, trigger.pk, raw=True)
    consumer = Consumer(trigger.pk, source, stop=threading.Event(), once=True)
    consumer.run()
    source.close()
    return dict(consumer.counts)


def test_messages_wait_while_the_payload_store_is_down(
    trigger: Trigger, queue: str, store: redis.Redis, settings: Any, tmp_path: Path
) -> None:
    folder = use_store(settings, tmp_path)
    folder.write_text("a file where the folder should be")
    store.rpush(queue, json.dumps({"text": TEXT}))

    assert consume_here(trigger, queue) == {}

    assert (store.llen(queue), in_flight(store, trigger)) == (1, 0)
    assert not RefusedMessage.objects.exists()
    folder.unlink()
    assert consume_here(trigger, queue) == {"started": 1}
    assert STORED in payloads()[0]


@pytest.mark.parametrize("key", [base64.b64encode(b"n" * 32).decode(), ""])
def test_messages_wait_while_the_installation_key_is_missing(
    key: str, trigger: Trigger, queue: str, store: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    def as_after_a_start() -> None:
        keyset.forget()
        payload_keys.forget()

    payload_keys.make(trigger.workflow.workspace_id)
    store.rpush(queue, '{"order": 1}', "{")
    with monkeypatch.context() as patched:
        patched.setenv("VALKYR_KEY", key)
        as_after_a_start()

        assert consume_here(trigger, queue) == {}

        assert (store.llen(queue), in_flight(store, trigger)) == (2, 0)
        assert not RefusedMessage.objects.exists()
    as_after_a_start()
    assert consume_here(trigger, queue) == {"started": 1, "refused": 1}


def test_it_outlives_lost_connections(trigger: Trigger, queue: str, store: redis.Redis) -> None:
    with Consuming(trigger.pk, "--raw") as consuming:
        consuming.wait_for("consuming")
        for number in range(1, 6):
            store.client_kill_filter(_type="normal", skipme=True)
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
            store.rpush(queue, str(number))
            wait_until(lambda n=number: Executions.count() == n, 40, f"execution {number}")
            # If it were cut off before it acknowledges this one, it would correctly count it as
            # known.
            wait_until(lambda: in_flight(store, trigger) == 0, 40, "its acknowledgement")
        assert "5 started" in consuming.stop()

    assert payloads() == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("00000000-0000-4000-8000-000000000000", "There is no QUEUE trigger"),
        ("nothing", "No published workflow 'nothing' has a QUEUE trigger"),
        ("nothing:orders", "of 'orders'"),
    ],
)
def test_a_trigger_that_is_not_there_is_named(name: str, expected: str) -> None:
    with pytest.raises(NotFound, match=expected):
        opening.find(name)


def test_a_name_that_fits_several_triggers_lists_them() -> None:
    twice = triggered({"type": "QUEUE", "queue": "a"}, {"type": "QUEUE", "queue": "b"})
    wanted = Trigger.objects.get(workflow=twice, settings__queue="b")

    with pytest.raises(opening.Unclear, match=str(wanted.pk)):
        opening.find(twice.slug)

    assert opening.find(f"{twice.slug}:b") == opening.find(str(wanted.pk)) == wanted


@pytest.mark.parametrize("name", ["valkyr-tests:io", "control", "io"])
def test_the_engines_own_queues_are_refused(name: str) -> None:
    trigger = only_trigger(triggered({"type": "QUEUE", "queue": name}))

    with pytest.raises(opening.Unclear, match="one of Valkyr's own queues"):
        opening.open_source(trigger, settings.REDIS_URL, raw=False)


def test_brokers_that_cannot_be_used_are_refused(trigger: Trigger) -> None:
    with pytest.raises(opening.Unclear, match="--raw works only with lists in Redis"):
        opening.open_source(trigger, "amqp://127.0.0.1", raw=True)
    with pytest.raises(opening.Unclear, match="environment variable NO_SUCH"):
        opening.broker_url(trigger, "env:NO_SUCH")


def test_no_address_is_shown_with_its_password() -> None:
    servers = "amqp://a:first@one.example//;amqp://b:second@two.example//"

    assert opening.shown(servers) == "amqp://one.example//;amqp://two.example//"
    assert opening.shown("redis://:first@one.example/1") == "redis://one.example/1"


def test_a_mistake_ends_the_command_with_a_sentence(
    trigger: Trigger, queue: str, store: redis.Redis
) -> None:
    store.set(queue, "no list")

    text = from_a_shell(trigger.pk, code=1)

    assert "CommandError: " in text
    assert "WRONGTYPE" in text
    assert "Traceback" not in text


def test_the_broker_may_come_from_the_environment(queue: str, store: redis.Redis) -> None:
    settings_ = {"type": "QUEUE", "queue": queue, "broker": "env:ORDERS_BROKER"}
    trigger = only_trigger(triggered(settings_))
    store.rpush(queue, "1")

    consume(trigger.pk, "--once", "--raw", ORDERS_BROKER=settings.REDIS_URL)

    assert payloads() == [1]


class TestRedisSource:
    """The transfer of messages between consumers."""

    def test_a_message_left_in_flight_is_taken_over_once(
        self, trigger: Trigger, queue: str, store: redis.Redis
    ) -> None:
        store.rpush(queue, "1")
        sources = [RedisSource(settings.REDIS_URL, queue, trigger.pk, raw=True) for _ in range(2)]
        first = sources[0].get()

        again = sources[1].get()

        assert first is not None
        assert again is not None
        assert first.token == again.token
        sources[0].give_back()  # it no longer holds it
        assert store.llen(queue) == 0
        sources[1].give_back()
        assert store.lrange(queue, 0, -1) == [b"1"]
        assert in_flight(store, trigger) == 0
        for source in sources:
            source.close()

    def test_messages_of_higher_priority_lists_are_found(
        self, trigger: Trigger, queue: str, put: Callable[..., None], store: redis.Redis
    ) -> None:
        put(["late"], priority=9)
        put(["first"])
        source = RedisSource(settings.REDIS_URL, queue, trigger.pk)

        found = []
        while (message := source.get()) is not None:
            found.append(message.payload())
            source.acknowledge()
        source.close()

        assert found == [["first"], ["late"]]


class TestBrokerSource:
    """The reader of RabbitMQ, tested with kombu's transport for Redis."""

    def consumer(self, trigger: Trigger, queue: str) -> Consumer:
        source = BrokerSource(settings.REDIS_URL, queue)
        consumer = Consumer(trigger.pk, source, stop=threading.Event(), once=True)
        consumer.run()
        source.close()
        return consumer

    def test_messages_start_executions_and_are_done_with(
        self, trigger: Trigger, queue: str, put: Callable[..., None]
    ) -> None:
        put({"order": 1}, message_id="m-1")
        put({"order": 1}, message_id="m-1")
        put({"order": 2})

        consumer = self.consumer(trigger, queue)

        assert consumer.counts == {"started": 2, "known": 1}
        assert payloads() == [{"order": 1}, {"order": 2}]
        assert not self.consumer(trigger, queue).counts

    def test_a_message_that_must_wait_goes_back(
        self, trigger: Trigger, queue: str, put: Callable[..., None], store: redis.Redis
    ) -> None:
        put({"order": 1})
        switch(trigger.pk, enabled=False, actor=ACTOR)

        assert not self.consumer(trigger, queue).counts

        assert store.llen(queue) == 1

    def test_a_connection_that_ends_gives_its_message_back(
        self, trigger: Trigger, queue: str, put: Callable[..., None], store: redis.Redis
    ) -> None:
        put({"order": 1})
        source = BrokerSource(settings.REDIS_URL, queue)
        assert source.get() is not None

        source.close()

        source.acknowledge()  # nothing is held any more
        assert store.llen(queue) == 1


class TestRefused:
    """Users' operations on rejected messages."""

    def refused(self, trigger: Trigger, body: bytes = b'{"name": 5}') -> RefusedMessage:
        message = QueueMessage(body, {}, None, uuid4(), lasting=True)
        assert intake.take(trigger.pk, message).verdict == "refused"
        return RefusedMessage.objects.get(pk=message.token)

    @pytest.fixture
    def strict(self, queue: str) -> Trigger:
        return only_trigger(triggered({"type": "QUEUE", "queue": queue}, input=NAMED))

    def test_one_is_started_again_with_another_payload(self, strict: Trigger) -> None:
        message = self.refused(strict)

        execution = refused.start_again(message.pk, actor=ACTOR, payload={"name": "five"})

        message.refresh_from_db()
        assert message.resolution == "STARTED"
        assert message.execution_id == execution.pk
        assert (execution.trigger_type, execution.trigger_id) == ("QUEUE", strict.pk)
        with pytest.raises(refused.WrongState, match="is already STARTED"):
            refused.discard(message.pk, actor=ACTOR)

    def test_one_that_still_does_not_fit_stays_open(self, strict: Trigger) -> None:
        message = self.refused(strict)
        garbage = self.refused(strict, b"{")
        cut = self.refused(strict, b'"' + b"x" * intake.KEPT_BYTES + b'"')

        for pk in (message.pk, garbage.pk, cut.pk):
            with pytest.raises(refused.InvalidPayload):
                refused.start_again(pk, actor=ACTOR)

        assert not RefusedMessage.objects.exclude(resolution="").exists()
        assert not Executions.exists()

    @pytest.mark.parametrize("body", [b'{"name": "\xff"}', b'{"name": "a\x00b"}'])
    def test_one_whose_bytes_were_replaced_does_not_start(
        self, strict: Trigger, body: bytes
    ) -> None:
        message = self.refused(strict, body)

        with pytest.raises(refused.InvalidPayload) as error:
            refused.start_again(message.pk, actor=ACTOR)

        assert [problem.code for problem in error.value.problems] == ["altered"]
        assert not Executions.exists()

    def test_one_is_discarded(self, strict: Trigger) -> None:
        message = self.refused(strict)

        refused.discard(message.pk, actor=ACTOR)

        message.refresh_from_db()
        assert message.resolution == "DISCARDED"
        assert message.resolved_at is not None
