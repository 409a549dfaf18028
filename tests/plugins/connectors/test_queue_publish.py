"""Tests of messages to lists and streams of a real Redis, and of rejected messages."""

import json
import os
import socket
import socketserver
import threading
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest
import redis

from runners.failures.classification import Failure, classify
from runners.modules import registry
from runners.modules.base import Result, StepError
from runners.secrets.scrubbing import Scrubber
from runners.segment.step_context import Context
from runners.states import ErrorType
from tests.support.module_fixtures import KEY

DATABASE = 5  # the engine's own is 0
Send = Callable[..., Any]


@pytest.fixture
def url() -> str:
    """Return the URL of another database of the tests' Redis."""
    return urlsplit(os.environ["REDIS_URL"])._replace(path=f"/{DATABASE}").geturl()


@pytest.fixture
def store(url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator["redis.Redis"]:
    """Yield a client of that database, which is empty; an administrator has allowed it."""
    monkeypatch.setenv("VALKYR_HTTP_ALLOWED_NETWORKS", "127.0.0.0/8")
    client = redis.Redis.from_url(url)
    client.flushdb()
    yield client
    client.flushdb()
    client.close()


@pytest.fixture
def send(make_context: Callable[..., Context], url: str) -> Send:
    """Return a function that runs the module with a credential for that database, or `to`
    another.
    """

    def send(to: str = "", **inputs: Any) -> Any:
        context = make_context()
        context.reveal({"url": to or url}, Scrubber({}))
        result = registry.get("queue.publish").run(inputs, context)
        assert isinstance(result, Result)
        return result.outputs

    return send


def refused(send: Send, **given: Any) -> Failure:
    with pytest.raises(StepError) as caught:
        send(**given)
    return classify(caught.value)


def test_a_list_gets_the_body_at_its_end(send: Send, store: "redis.Redis") -> None:
    first = send(queue="orders", json={"orderId": 17, "name": "Grüße"})
    second = send(queue="orders", text="plain")
    third = send(queue="orders", base64="AP8=")

    found = store.lrange("orders", 0, -1)
    assert json.loads(found[0]) == {"orderId": 17, "name": "Grüße"}
    assert found[1:] == [b"plain", b"\x00\xff"]
    assert [first["length"], second["length"], third["length"]] == [1, 2, 3]
    assert (first["messageId"], second["bytes"]) == (KEY, 5)


def test_a_stream_gets_an_entry_with_its_headers(send: Send, store: "redis.Redis") -> None:
    sent = send(stream="orders", json=None, headers={"kind": "order.paid", "big": True, "n": 3})

    [(entry, fields)] = store.xrange("orders")
    assert entry.decode() == sent["entryId"]
    assert fields == {
        b"kind": b"order.paid",
        b"big": b"true",
        b"n": b"3",
        b"messageId": KEY.encode(),
        b"contentType": b"application/json",
        b"body": b"null",
    }


def test_a_stream_is_kept_to_about_its_length(send: Send, store: "redis.Redis") -> None:
    for number in range(300):
        store.xadd("orders", {"n": str(number)})

    send(stream="orders", text="last", maxLength=10)

    assert store.xlen("orders") < 150


def test_a_queue_trigger_reads_what_a_step_sent(send: Send, store: "redis.Redis", url: str) -> None:
    from uuid import uuid4

    from executions.triggers.queues.sources import RedisSource

    send(queue="orders", json={"orderId": 17})
    source = RedisSource(url, "orders", uuid4(), raw=True)
    message = source.get()
    source.close()

    assert message is not None
    assert json.loads(message.body) == {"orderId": 17}


def test_the_engine_s_own_broker_is_known_by_every_address_of_this_machine(
    send: Send, store: "redis.Redis"
) -> None:
    own = os.environ["REDIS_URL"]
    card = {
        found.address
        for cards in psutil.net_if_addrs().values()
        for found in cards
        if found.family == socket.AF_INET
    }
    hosts = {"127.0.0.2", "127.255.255.254", "0.0.0.0", "[::1]", "[::ffff:127.0.0.1]", "127.1"}

    for host in hosts | card:
        address = own.replace("127.0.0.1", host)
        assert (
            "contains the engine's own messages"
            in refused(send, to=address, queue="a", json=1).message
        )


def test_the_engine_s_own_broker_takes_no_messages(
    send: Send, store: "redis.Redis", monkeypatch: pytest.MonkeyPatch
) -> None:
    own = os.environ["REDIS_URL"]
    for address in (own, own.replace("127.0.0.1", "localhost")):
        assert (
            "contains the engine's own messages"
            in refused(send, to=address, queue="a", json=1).message
        )
    monkeypatch.setenv("CELERY_BROKER_URL", "amqp://127.0.0.1/%2F")
    failure = refused(send, to="amqp://guest:guest@127.0.0.1:5672", queue="default", json=1)
    assert "contains the engine's own messages" in failure.message


@pytest.mark.parametrize(
    "own", ["amqp://192.0.2.7//;amqp://127.0.0.1/%2F", "amqp://127.0.0.1//;amqp://192.0.2.7//"]
)
def test_each_server_of_the_engine_s_own_list_takes_no_messages(
    send: Send, store: "redis.Redis", monkeypatch: pytest.MonkeyPatch, own: str
) -> None:
    monkeypatch.setenv("CELERY_BROKER_URL", own)
    for host in ("127.0.0.2", "192.0.2.7"):
        failure = refused(send, to=f"amqp://u:p@{host}:5672", queue="default", json=1)
        assert "contains the engine's own messages" in failure.message


def test_a_list_of_servers_is_no_address_of_a_step(send: Send, store: "redis.Redis") -> None:
    url = "amqp://192.0.2.8//;amqp://127.0.0.1//"
    assert "not a broker's address" in refused(send, to=url, queue="a", json=1).message


def test_a_private_address_is_refused_unless_it_is_allowed(
    send: Send, store: "redis.Redis", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VALKYR_HTTP_ALLOWED_NETWORKS")

    for url in ("redis://127.0.0.1:6379/7", "amqp://127.0.0.1:5699", "rediss://10.0.0.1:6379/7"):
        failure = refused(send, to=url, queue="a", json=1)
        assert "a private or special address" in failure.message
        assert failure.error_type is ErrorType.PERMANENT


@pytest.mark.parametrize(
    "url", ["http://a.example", "unix:///run/redis.sock", "redis:///5", "redis://h:no", "redis://h/x",
            "sqs://pass-word@h", "memory://"],
)  # fmt: skip
def test_an_address_that_is_none_is_refused_without_being_quoted(send: Send, url: str) -> None:
    failure = refused(send, to=url, queue="a", json=1)

    assert "not a broker's address" in failure.message
    assert url not in failure.message


@pytest.mark.parametrize("scheme", ["redis", "rediss", "amqp", "amqps"])
def test_a_broker_that_is_not_there_is_tried_again(
    send: Send, store: "redis.Redis", scheme: str
) -> None:
    failure = refused(send, to=f"{scheme}://ann:pass-word@127.0.0.1:9/7", queue="a", json=1)

    assert failure.error_type is ErrorType.TRANSIENT, failure.message
    assert failure.message.startswith("127.0.0.1:9: ")
    assert "pass-word" not in str(failure)


def test_a_wrong_password_and_a_wrong_kind_of_key_fail_for_good(
    send: Send, store: "redis.Redis", url: str
) -> None:
    store.set("orders", "a text")

    parts = urlsplit(url)
    other = parts._replace(netloc=f"ann:pass-word@{parts.hostname}:{parts.port}").geturl()
    wrong = refused(send, to=other, queue="a", json=1)
    text = refused(send, queue="orders", json=1)

    assert wrong.error_type is ErrorType.PERMANENT
    assert "pass-word" not in str(wrong)
    assert text.error_type is ErrorType.PERMANENT
    assert "WRONGTYPE" in text.message


class FullRedis(socketserver.BaseRequestHandler):
    """Implements enough of Redis's protocol to report that it is out of memory."""

    def handle(self) -> None:
        while said := self.request.recv(65_536):
            full = b"RPUSH" in said
            self.request.sendall(b"-OOM command not allowed\r\n" if full else b"+OK\r\n")


def test_a_redis_that_is_full_is_tried_again(send: Send, store: "redis.Redis") -> None:
    with socketserver.TCPServer(("127.0.0.1", 0), FullRedis) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        failure = refused(
            send, to=f"redis://127.0.0.1:{server.server_address[1]}", queue="a", json=1
        )
        server.shutdown()

    assert failure.error_type is ErrorType.TRANSIENT
    assert "OutOfMemory" in failure.message


@pytest.mark.parametrize(
    ("inputs", "says"),
    [
        ({"exchange": "shop", "json": 1}, "Redis has no exchanges"),
        ({"queue": "a", "json": 1, "headers": {"a": 1}}, "cannot store headers"),
    ],
)
def test_what_redis_does_not_have_is_said(
    send: Send, store: "redis.Redis", inputs: dict[str, Any], says: str
) -> None:
    assert says in refused(send, **inputs).message


def test_what_amqp_does_not_have_is_said(send: Send, store: "redis.Redis") -> None:
    failure = refused(send, to="amqp://127.0.0.1:9", stream="a", json=1)

    assert "streams are not supported for AMQP" in failure.message
