"""The number of times that kombu tries to reach a broker that is down."""

import pytest
from celery import current_app

from executions.vendor_seams.kombu_redis import RedisTransport
from valkyr_project.embedded.child import free_port


class Enough(Exception):
    """The broker was tried often enough."""


def test_a_broker_is_looked_for_every_three_seconds_however_long_it_is_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kombu.utils.functional.sleep", lambda _: None)
    waits: list[float] = []

    def refused(error: Exception, seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 50:
            raise Enough

    with (
        current_app.connection_for_read(f"redis://127.0.0.1:{free_port()}/0") as broker,
        pytest.raises(Enough),
    ):
        broker.ensure_connection(refused)
    assert waits[:4] == [1, 2, 3, 3]
    assert set(waits[4:]) == {3}


def test_producers_send_through_our_transport_too() -> None:
    """Producers use Valkyr's transport: kombu's pool creates connections of Valkyr's class, with
    kombu's transport.
    """
    with current_app.producer_or_acquire() as producer, current_app.pool.acquire() as connection:
        found = {type(one.transport) for one in (producer.connection, connection)}

    assert found == {RedisTransport}, "see executions/vendor_seams/kombu_connection.py"
