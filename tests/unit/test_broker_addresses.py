"""The facts in a broker's address: Redis or not, several servers, Sentinels."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from celery import current_app
from django.core.exceptions import ImproperlyConfigured
from kombu.exceptions import OperationalError

from executions import messaging
from executions.redis_client import open_client
from executions.vendor_seams.kombu_redis import SentinelTransport
from tests.support.reconfigured import reconfigure

SENTINELS = "sentinel://:secret@one:26379/3;sentinel://:secret@two/3"
Configure = Callable[..., None]


@pytest.fixture
def configure() -> Iterator[Configure]:
    """Yield a function that changes settings of the Celery app until the test's end."""
    with ExitStack() as stack:
        yield lambda **changes: stack.enter_context(_configured(changes))


@contextmanager
def _configured(changes: dict[str, Any]) -> Iterator[None]:
    app = current_app._get_current_object()
    before = {name: getattr(app.conf, name) for name in changes}
    reconfigure(app, changes)
    try:
        yield
    finally:
        reconfigure(app, before)


def test_several_servers_are_one_address(configure: Configure) -> None:
    configure(broker_write_url="amqp://one//;amqp://two//")
    assert messaging.broker_url() == "amqp://one//;amqp://two//"

    configure(broker_write_url=["amqp://one//", "amqp://two//"])
    assert messaging.broker_url() == "amqp://one//;amqp://two//"
    assert not messaging.is_redis(messaging.broker_url())


def test_redis_behind_sentinels_is_redis(configure: Configure, settings: Any) -> None:
    settings.VALKYR = settings.VALKYR | {"REDIS_URL": ""}
    configure(broker_write_url=SENTINELS)

    assert messaging.is_redis(messaging.broker_url())
    assert messaging.broker_priority(9) == 0
    assert messaging.redis_url() == SENTINELS


def test_a_connection_to_sentinels_has_our_transport(configure: Configure) -> None:
    configure(broker_url=SENTINELS, broker_read_url=SENTINELS)

    with current_app.connection_for_read() as link:
        assert isinstance(link.transport, SentinelTransport)
        assert len(link.alt) == 2


def test_a_client_follows_the_primary_that_celerys_options_name(configure: Configure) -> None:
    configure(
        broker_transport_options={
            "master_name": "valkyr",
            "sentinel_kwargs": {"password": "theirs"},
        }
    )

    pool: Any = open_client(SENTINELS, socket_timeout=0.5).connection_pool

    assert pool.service_name == "valkyr"
    given = pool.connection_kwargs
    assert (given["db"], given["password"], given["socket_timeout"]) == (3, "secret", 0.5)
    asked = [one.connection_pool.connection_kwargs for one in pool.sentinel_manager.sentinels]
    assert [(one["host"], one["port"]) for one in asked] == [("one", 26379), ("two", 26379)]
    assert {one["password"] for one in asked} == {"theirs"}
    assert {one["retry"].get_retries() for one in asked} == {0}


def test_the_result_backends_options_may_name_the_primary(configure: Configure) -> None:
    configure(
        broker_transport_options={"confirm_publish": True},
        result_backend_transport_options={"master_name": "counts"},
    )

    pool: Any = open_client(SENTINELS).connection_pool
    assert pool.service_name == "counts"


def test_after_a_slow_failure_the_broker_is_left_alone_for_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(messaging, "_slow_until", float("-inf"))
    now = [100.0]
    monkeypatch.setattr(messaging, "monotonic", lambda: now[0])

    def send(seconds: float) -> None:
        with messaging.sending():
            now[0] += seconds
            raise TimeoutError

    for seconds in (0, 2):  # what fails at once is tried again at once
        with pytest.raises(TimeoutError):
            send(seconds)
    with pytest.raises(OperationalError, match="in time"):
        send(0)
    now[0] += messaging.REST_SECONDS
    with pytest.raises(TimeoutError):
        send(0)


def test_a_primary_without_a_name_is_refused_with_the_setting(configure: Configure) -> None:
    configure(broker_transport_options={}, result_backend_transport_options={})

    with pytest.raises(ImproperlyConfigured, match="VALKYR_SENTINEL_MASTER"):
        open_client(SENTINELS)
