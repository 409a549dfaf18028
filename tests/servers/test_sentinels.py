"""Redis behind Sentinels: messages, counts, queues of triggers, and a primary that is killed."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import redis
from celery import current_app
from redis.exceptions import ConnectionError as ConnectionLost

from executions import messaging
from executions.configuration import own_servers
from executions.redis_client import open_client
from executions.triggers.queues.sources import RedisSource
from executions.vendor_seams.celery_results import SentinelChordCounter
from tests.support.reconfigured import reconfigure
from tests.support.sentinels import NAME, Sentinels
from tests.support.waiting import wait_until


@pytest.fixture(scope="module")
def sentinels(home: Path) -> Iterator[Sentinels]:
    """Run Sentinels, which deliver this process's messages."""
    made = Sentinels(home)
    app: Any = current_app
    app = app._get_current_object()
    options = {
        "master_name": NAME,
        "sentinel_kwargs": {"password": made.own_password},
        "global_keyprefix": "sentinels:",
    }
    counter = "executions.vendor_seams.celery_results:SentinelChordCounter"
    changed = {
        **dict.fromkeys(("broker_url", "broker_write_url", "broker_read_url"), made.url),
        "broker_transport_options": options,
        "result_backend": f"{counter}+{made.url}",
        "result_backend_transport_options": options,
    }
    before = {name: getattr(app.conf, name) for name in changed}
    try:
        made.start()
        reconfigure(app, changed)
        yield made
    finally:
        reconfigure(app, before)
        made.stop()


def test_the_engines_clients_reach_the_primary(sentinels: Sentinels) -> None:
    assert messaging.counts_chords()
    backend = current_app.backend
    assert isinstance(backend, SentinelChordCounter)
    assert backend.client.incr("counted") == 1

    own = set(own_servers.addresses())
    for server in sentinels.servers:  # a step may not reach them
        assert f"redis://127.0.0.1:{server.port}/0" in own


def test_a_trigger_reads_a_queue_behind_sentinels(sentinels: Sentinels) -> None:
    source = RedisSource(sentinels.url, "orders", uuid4(), raw=True)
    with open_client(sentinels.url) as store:
        store.rpush("orders", "{}")

    found = source.get()

    assert found is not None
    assert found.body == b"{}"
    source.acknowledge()
    source.close()


def test_messages_and_clients_follow_the_promoted_replica(sentinels: Sentinels) -> None:
    store = open_client(sentinels.url, socket_timeout=1)
    store.set("kept", 1)
    primary = sentinels.primary()
    assert primary is not None
    store.wait(1, 5_000)  # until the replica has it

    primary.kill()
    wait_until(lambda: sentinels.primary() not in {None, primary}, 60, "a new primary")

    wait_until(lambda: _read(store) == b"1", 10, "an answer of the new primary")
    with current_app.connection_for_write() as link:
        link.ensure_connection(max_retries=3)
        queue = link.SimpleQueue("after")
        queue.put({"n": 1})
        assert queue.get(timeout=60).payload == {"n": 1}


def _read(store: redis.Redis) -> Any:
    with suppress(ConnectionLost):
        return store.get("kept")
    return None
