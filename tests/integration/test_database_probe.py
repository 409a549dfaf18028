"""The probe that checks whether a worker reaches the database; it never waits for an answer."""

import itertools
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from runners.process import own_connection
from runners.workers.name_lookup import is_name
from runners.workers.reach import ASK_EVERY, LOOK_EVERY, SILENCE, DatabaseProbe
from tests.support.fleet import database_url
from tests.support.relay import relay
from tests.support.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def mute() -> Iterator[int]:
    """Yield the port of a server that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def to(port: Any, **changes: Any) -> dict[str, Any]:
    """Return this process's connection parameters, for a port of this machine."""
    return own_connection.parameters() | {"host": "127.0.0.1", "port": port} | changes


def real_port() -> int:
    return int(own_connection.parameters()["port"])


def test_a_look_hears_the_answer_to_the_one_before() -> None:
    probe = DatabaseProbe(own_connection.parameters())
    wait_until(probe.look, 10, "the first question")

    asked = time.monotonic()
    wait_until(probe.look, 10, "the second question, after an answer to the first")

    assert probe.silence() <= time.monotonic() - asked
    probe.close()


def test_a_look_at_a_silent_server_does_not_wait(mute: int) -> None:
    probe = DatabaseProbe(to(mute))

    before = time.monotonic()
    asked = [probe.look() for _ in range(3)]

    assert asked == [False] * 3
    assert time.monotonic() - before < SILENCE / 2
    assert probe.silence() >= time.monotonic() - before
    probe.close()


def test_a_silent_host_gives_way_to_the_next_one(mute: int) -> None:
    hosts = {"host": "127.0.0.1,127.0.0.1", "port": f"{mute},{real_port()}"}
    probe = DatabaseProbe(own_connection.parameters() | hosts, handshake=0.2)

    wait_until(probe.look, 10, "a question to the second host")

    probe.close()


def test_a_connection_that_ended_gives_no_answer() -> None:
    with relay(database_url()) as line:
        probe = DatabaseProbe(to(line.port))
        wait_until(probe.look, 10, "the first question")
    asked = time.monotonic()

    wait_until(lambda: probe.look() or probe.silence() > ASK_EVERY + 1, 10, "silence")

    assert probe.silence() > time.monotonic() - asked - 1
    probe.close()


def test_a_slow_network_is_no_silence() -> None:
    """A slow network is not taken for silence; the checks are as far apart as a worker's."""
    with relay(database_url()) as line:
        line.slow(0.2)
        probe = DatabaseProbe(to(line.port))
        due = itertools.count(time.monotonic(), LOOK_EVERY)

        def look_when_due() -> bool:
            nonlocal at
            if time.monotonic() < at:
                return False
            at = next(due)
            return probe.look()

        at = next(due)
        wait_until(look_when_due, 10, "the first question")
        wait_until(look_when_due, 10, "the second question, after an answer to the first")
        assert probe.silence() < SILENCE / 2
        probe.close()


class Resolver:
    """A resolver that knows one name, and answers when the test lets it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
        self.answers = threading.Event()
        self.fails = False
        self.asked = 0
        look_up = socket.getaddrinfo

        def late(host: Any, *more: Any, **options: Any) -> Any:
            if host != name:
                return look_up(host, *more, **options)
            self.asked += 1
            self.answers.wait(30)
            if self.fails:
                raise socket.gaierror(socket.EAI_AGAIN, "no answer")
            return look_up("127.0.0.1", *more, **options)

        monkeypatch.setattr(socket, "getaddrinfo", late)


@pytest.fixture
def resolver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Resolver]:
    """Yield a resolver that answers at the test's end at the latest."""
    made = Resolver(monkeypatch, "database.test")
    yield made
    made.answers.set()


def test_a_look_does_not_wait_for_a_slow_resolver(resolver: Resolver) -> None:
    probe = DatabaseProbe(to(real_port(), host="database.test"))

    before = time.monotonic()
    asked = [probe.look() for _ in range(3)]

    assert asked == [False] * 3
    assert time.monotonic() - before < LOOK_EVERY
    resolver.answers.set()
    wait_until(probe.look, 10, "the first question, after the lookup")
    assert resolver.asked == 1
    probe.close()


def test_a_host_whose_lookup_gets_no_answer_gives_way_to_the_next_one(resolver: Resolver) -> None:
    hosts = {"host": "database.test,127.0.0.1"}
    probe = DatabaseProbe(to(real_port(), **hosts), handshake=0.2)

    wait_until(probe.look, 10, "a question to the second host")

    assert resolver.asked == 1
    probe.close()


def test_a_failed_lookup_is_tried_again(resolver: Resolver) -> None:
    resolver.fails = True
    resolver.answers.set()
    probe = DatabaseProbe(to(real_port(), host="database.test"))
    wait_until(lambda: probe.look() or resolver.asked > 1, 10, "a second lookup")
    resolver.fails = False

    wait_until(probe.look, 10, "the first question")

    probe.close()


@pytest.mark.parametrize("hosts", ["database.test", "database.test,database.test"])
def test_a_host_with_an_address_is_not_looked_up(resolver: Resolver, hosts: str) -> None:
    addresses = ",".join("127.0.0.1" for _ in hosts.split(","))
    probe = DatabaseProbe(to(real_port(), host=hosts, hostaddr=addresses))

    wait_until(probe.look, 10, "the first question")

    assert resolver.asked == 0
    probe.close()


@pytest.mark.parametrize("host", ["", "/var/run/postgresql", "@abstract", "127.0.0.1", "::1"])
def test_only_names_are_looked_up(host: str) -> None:
    assert not is_name(host)
    assert is_name("database.test")
