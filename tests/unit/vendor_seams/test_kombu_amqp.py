"""kombu's transport to RabbitMQ: the parts on which Valkyr's limits of its waits depend."""

import inspect

import pytest
from amqp import Channel
from amqp import Connection as AmqpConnection
from amqp.abstract_channel import AbstractChannel
from celery import current_app
from kombu.transport import pyamqp

from executions.vendor_seams import kombu_amqp
from executions.vendor_seams.kombu_amqp import LimitedChannel, LimitedConnection

SEAM = "py-amqp has changed: see executions/vendor_seams/kombu_amqp.py"


def test_wait_takes_what_py_amqps_takes() -> None:
    theirs = list(inspect.signature(AbstractChannel.wait).parameters)

    assert list(inspect.signature(LimitedChannel.wait).parameters) == theirs, SEAM
    for one in (Channel, AmqpConnection):
        assert one.wait is AbstractChannel.wait, f"{one}: {SEAM}"


def test_a_confirmations_time_out_is_an_option_of_each_message() -> None:
    source = inspect.getsource(Channel.basic_publish_confirm)

    assert "kwargs.pop('confirm_timeout', None)" in source, SEAM
    assert "self.basic_publish = self.basic_publish_confirm" in inspect.getsource(Channel), SEAM


@pytest.mark.parametrize(
    ("scheme", "transport"),
    [("amqp", kombu_amqp.AmqpTransport), ("amqps", kombu_amqp.AmqpsTransport)],
)
def test_connections_of_the_app_have_our_transport(
    scheme: str, transport: type[pyamqp.Transport]
) -> None:
    with current_app.connection_for_write(f"{scheme}://127.0.0.1:1//") as link:
        assert type(link.transport) is transport, SEAM
        assert link.transport.Connection is LimitedConnection
        assert LimitedConnection.Channel is LimitedChannel
