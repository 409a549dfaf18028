"""A process that reconnects to Redis looks up its name once, and again if the address does not
answer.
"""

import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import pytest
from celery import current_app
from django.conf import settings
from kombu import Connection
from redis import Connection as RedisConnection
from redis.exceptions import ConnectionError as ConnectionLost

from executions.vendor_seams import kombu_redis, redis_addresses

SEAM = "redis-py has changed: see executions/vendor_seams/redis_addresses.py"
NAME = "localhost"


@pytest.fixture(autouse=True)
def _nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis_addresses, "_known", {})


@pytest.fixture
def lookups(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names that were looked up; addresses need no look-up."""
    found: list[str] = []
    resolve = socket.getaddrinfo

    def counting(host: Any, *args: Any, **kwargs: Any) -> Any:
        if host == NAME:
            found.append(host)
        return resolve(host, *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", counting)
    return found


@pytest.fixture
def broker() -> Iterator[Connection]:
    """Open a connection to the tests' Redis, by name."""
    parts = urlsplit(settings.CELERY_BROKER_URL)
    account = parts.netloc.rpartition("@")[0]
    netloc = f"{account}@{NAME}:{parts.port}" if account else f"{NAME}:{parts.port}"
    address = urlunsplit(parts._replace(netloc=netloc))
    options = {"global_keyprefix": f"seam-{uuid4()}."}
    with current_app.connection_for_read(url=address, transport_options=options) as link:
        yield link


def use(broker: Connection) -> None:
    """Send and receive a message, each over its own channel."""
    with broker.channel() as one, broker.channel() as other:
        queue = broker.SimpleQueue("seam", channel=one)
        queue.put({"n": 1})
        assert broker.SimpleQueue("seam", channel=other).get(timeout=60).payload == {"n": 1}


def test_what_is_replaced_exists() -> None:
    assert "_connect" in vars(RedisConnection), SEAM
    assert kombu_redis.Channel.connection_class is redis_addresses.AddressedConnection


def test_redis_looks_the_name_up_for_each_connection_by_itself(
    broker: Connection, lookups: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kombu_redis.Channel, "connection_class", RedisConnection)

    use(broker)

    assert len(lookups) > 1, f"the seam is not needed any more: {SEAM}"


def test_connections_share_a_lookup(broker: Connection, lookups: list[str]) -> None:
    use(broker)
    with broker.clone() as again:
        use(again)

    assert lookups == [NAME], SEAM


def test_a_dead_address_is_looked_up_at_once(broker: Connection, lookups: list[str]) -> None:
    port = int(urlsplit(settings.CELERY_BROKER_URL).port or 0)
    with socket.socket() as unused:
        # Bound, but it does not listen: connections to it are refused.
        unused.bind(("127.0.0.2", port))
        redis_addresses._known[NAME, port] = ("127.0.0.2", float("inf"))

        use(broker)

    assert lookups == [NAME], SEAM
    assert redis_addresses._known[NAME, port][0] != "127.0.0.2"


def test_an_address_is_not_used_for_long(broker: Connection, lookups: list[str]) -> None:
    use(broker)
    (key, (address, _)), *_ = redis_addresses._known.items()
    redis_addresses._known[key] = (address, 0.0)
    with broker.clone() as again:
        use(again)

    assert len(lookups) == 2, SEAM


def test_a_server_that_is_away_is_a_lost_connection(lookups: list[str]) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        made = redis_addresses.AddressedConnection(host=NAME, port=unused.getsockname()[1])

        with pytest.raises(ConnectionLost, match=NAME):
            made.connect()

    assert made.host == NAME
    assert redis_addresses._known == {}
