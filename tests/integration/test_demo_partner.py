"""The demo's partner service does each piece of work once per key."""

import threading
from collections.abc import Iterator

import httpx
import pytest

from valkyr_project.demo.partner import PartnerServer


@pytest.fixture
def partner() -> Iterator[PartnerServer]:
    server = PartnerServer()
    server.start()
    yield server
    server.stop()


def call(partner: PartnerServer, service: str, order: str, key: str, **more: object) -> int:
    answer = httpx.post(
        f"{partner.url}/{service}",
        json={"orderId": order, **more},
        headers={"Idempotency-Key": key},
        timeout=60,
    )
    return answer.status_code


def test_a_repeated_key_gets_the_first_answer_and_does_no_work(partner: PartnerServer) -> None:
    assert call(partner, "charges", "ORD-1001", "a") == 201
    assert call(partner, "charges", "ORD-1001", "a") == 200

    assert (partner.ledger.done("charges"), partner.ledger.doubled()) == (1, 0)
    assert partner.ledger.repeats.total() == 1


def test_another_key_does_the_work_again_and_is_counted(partner: PartnerServer) -> None:
    call(partner, "charges", "ORD-1001", "a")
    call(partner, "charges", "ORD-1001", "b")

    assert partner.ledger.doubled() == 1


def test_a_lost_answer_was_work_done_and_its_repeat_is_known(partner: PartnerServer) -> None:
    assert call(partner, "charges", "ORD-1009", "a") == 503
    assert call(partner, "charges", "ORD-1009", "a") == 200

    assert (partner.ledger.done("charges"), partner.ledger.doubled()) == (1, 0)


def test_busy_twice_then_fine(partner: PartnerServer) -> None:
    answers = [call(partner, "reservations", "ORD-1007", "a") for _ in range(3)]

    assert answers == [503, 503, 201]


def test_a_discontinued_article_is_refused_until_it_is_replaced(partner: PartnerServer) -> None:
    old, new = [{"sku": "OLD-MUG-2019"}], [{"sku": "TEA-MINT"}]

    assert call(partner, "reservations", "ORD-1033", "a", items=old) == 422
    assert call(partner, "reservations", "ORD-1033", "b", items=new) == 201
    assert partner.ledger.doubled() == 0


def test_slowing_down_says_for_how_long(partner: PartnerServer) -> None:
    answer = httpx.post(f"{partner.url}/reservations", json={"orderId": "ORD-1011"}, timeout=60)

    assert answer.status_code == 429
    assert answer.headers["Retry-After"] == "1"


def test_the_carrier_answers_once_it_is_awake(partner: PartnerServer) -> None:
    partner.ledger.carrier_awake = True

    assert call(partner, "shipments", "ORD-1066", "a") == 201


def test_a_partner_that_never_answered_can_be_stopped() -> None:
    PartnerServer().stop()


def test_a_hanging_call_ends_with_the_partner() -> None:
    server = PartnerServer()
    server.start()
    ended = threading.Event()

    def hang() -> None:
        with pytest.raises(httpx.TransportError):
            call(server, "shipments", "ORD-1066", "a")
        ended.set()

    caller = threading.Thread(target=hang)
    caller.start()
    while not server.ledger.calls:
        assert caller.is_alive()
    server.stop()

    caller.join(timeout=4)
    assert ended.is_set()
