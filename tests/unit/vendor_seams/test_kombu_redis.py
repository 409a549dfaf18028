"""kombu's channel on Redis has the parts on which Valkyr's changes depend, and still needs these
changes.
"""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from celery import current_app
from kombu import Connection
from kombu.transport import redis as transport
from redis.exceptions import ConnectionError as ConnectionLost
from redis.exceptions import ResponseError

from executions.vendor_seams import kombu_redis

SEAM = "kombu's Redis channel has changed: see executions/vendor_seams/kombu_redis.py"


@pytest.fixture
def broker() -> Iterator[Connection]:
    options = {"global_keyprefix": f"seam-{uuid4()}."}
    with current_app.connection_for_read(transport_options=options) as link:
        yield link


def test_every_method_that_is_replaced_exists() -> None:
    for name in ("_connparams", "_create_client", "_has_queue", "_size"):
        assert name in vars(transport.Channel), f"{name}: {SEAM}"
    assert "_sentinel_managed_pool" in vars(transport.SentinelChannel), SEAM


def test_new_connections_have_our_channel(broker: Connection) -> None:
    assert isinstance(broker.default_channel, kombu_redis.Channel), SEAM


def test_kombus_own_transport_is_left_as_it_is(broker: Connection) -> None:
    assert isinstance(broker.transport, kombu_redis.RedisTransport), SEAM
    assert transport.Transport.Channel is transport.Channel
    assert transport.SentinelTransport.Channel is transport.SentinelChannel
    assert ResponseError not in transport.Transport.connection_errors


def test_a_refused_write_counts_as_a_lost_connection(broker: Connection) -> None:
    assert ResponseError in broker.connection_errors, SEAM


def test_a_channel_whose_connection_was_closed_says_that_it_is_lost(
    broker: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel: Any = broker.default_channel

    with monkeypatch.context() as closed:
        closed.setattr(channel, "connection", None)
        with pytest.raises(ConnectionLost):
            channel._connparams()


def test_kombus_own_channel_still_ends_in_an_attribute_error(
    broker: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel: Any = broker.default_channel

    with monkeypatch.context() as closed:
        closed.setattr(channel, "connection", None)
        with pytest.raises(AttributeError):
            transport.Channel._connparams(channel)


def test_a_channel_keeps_its_client(broker: Connection) -> None:
    channel: Any = broker.default_channel

    assert channel._create_client() is channel._create_client(), SEAM
    assert transport.Channel._create_client(channel) is not channel._create_client()


def test_a_queue_under_a_prefix_is_there_while_it_holds_a_message(broker: Connection) -> None:
    channel: Any = broker.default_channel
    with broker.SimpleQueue("held") as queue:
        assert not channel._has_queue("held")
        queue.put({})

        assert channel._has_queue("held"), SEAM
        assert not transport.Channel._has_queue(channel, "held"), (
            "kombu finds queues under a prefix now: the seam is no longer needed"
        )
        queue.clear()


@pytest.mark.parametrize("answer", ["ack", "reject"])
def test_a_message_whose_acknowledgement_is_refused_holds_no_place(
    broker: Connection, answer: str
) -> None:
    channel: Any = broker.default_channel
    channel.basic_qos(0, 1, False)
    with broker.SimpleQueue("held") as queue:
        queue.put({})
        message = queue.get(timeout=60)
        held: Any = message.channel.qos
        with message.channel.conn_or_acquire() as client:
            # Redis answers a command for sorted sets on something else with an error.
            client.delete(held.unacked_index_key)
            client.set(held.unacked_index_key, "not a sorted set")
        with pytest.raises(ResponseError):
            getattr(message, answer)()

        assert message.delivery_tag in held._dirty, SEAM
        with message.channel.conn_or_acquire() as client:
            client.delete(held.unacked_index_key)
