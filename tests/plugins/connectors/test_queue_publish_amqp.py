"""Tests of messages sent to a broker that speaks AMQP."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from runners.failures.classification import Failure, classify
from runners.modules import registry
from runners.modules.base import Result, StepError
from runners.secrets.scrubbing import Scrubber
from runners.segment.step_context import Context
from runners.states import ErrorType
from tests.support.counterparts.amqp import AmqpBroker
from tests.support.module_fixtures import KEY

Send = Callable[..., Any]


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> Iterator[AmqpBroker]:
    monkeypatch.setenv("VALKYR_HTTP_ALLOWED_NETWORKS", "127.0.0.0/8")
    with AmqpBroker() as started:
        yield started


@pytest.fixture
def send(make_context: Callable[..., Context], broker: AmqpBroker) -> Send:
    def send(to: str = "", **inputs: Any) -> Any:
        context = make_context()
        context.reveal({"url": to or broker.url}, Scrubber({}))
        result = registry.get("queue.publish").run(inputs, context)
        assert isinstance(result, Result)
        return result.outputs

    return send


def refused(send: Send, **given: Any) -> Failure:
    with pytest.raises(StepError) as caught:
        send(**given)
    return classify(caught.value)


def test_a_message_is_confirmed_and_carries_its_id(send: Send, broker: AmqpBroker) -> None:
    sent = send(queue="orders", json={"orderId": 17}, headers={"kind": "order.paid", "n": 3})

    [message] = broker.received
    assert (message.exchange, message.routing_key) == ("", "orders")
    assert json.loads(message.body) == {"orderId": 17}
    assert message.properties["message_id"] == sent["messageId"] == KEY
    assert message.properties["delivery_mode"] == 2
    assert message.properties["content_type"] == "application/json"
    headers = message.properties["application_headers"]
    assert (headers["kind"], headers["n"]) == ("order.paid", "3")


def test_bytes_go_as_they_are(send: Send, broker: AmqpBroker) -> None:
    send(queue="orders", base64="AP8=", persistent=False)

    [message] = broker.received
    assert message.body == b"\x00\xff"
    assert message.properties["delivery_mode"] == 1


def test_a_message_that_no_queue_gets_is_no_success(send: Send, broker: AmqpBroker) -> None:
    failure = refused(send, queue="oders", json=1)

    assert failure.error_type is ErrorType.PERMANENT
    assert "no queue receives messages of the exchange '' with the routing key 'oders'" in (
        failure.message
    )


def test_an_exchange_that_is_not_there_fails_for_good(send: Send, broker: AmqpBroker) -> None:
    failure = refused(send, exchange="shop", routingKey="order.paid", json=1)

    assert failure.error_type is ErrorType.PERMANENT
    assert "no exchange shop" in failure.message


def test_a_wrong_password_fails_for_good_and_is_not_told(send: Send, broker: AmqpBroker) -> None:
    failure = refused(send, to=broker.url.replace("right-word", "wrong-word"), queue="a", json=1)

    assert failure.error_type is ErrorType.PERMANENT, failure.message
    assert "refused" in failure.message
    assert "wrong-word" not in str(failure)
