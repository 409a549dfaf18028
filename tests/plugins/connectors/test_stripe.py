"""At a real server with Stripe's API, each payment is made once and errors are classified."""

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from runners.failures.classification import Failure, classify
from runners.modules import registry
from runners.modules.base import Result, StepError
from runners.secrets.scrubbing import Scrubber
from runners.segment.step_context import Context
from runners.states import ErrorType
from tests.support.bad_inputs import check_row, rows
from tests.support.counterparts.stripe import StripeServer

TYPES = ("stripe.payment_intent", "stripe.refund", "stripe.customer")
SECRET = "sk_test_4eC39HqLyjWDarjtT1zdp7dc"
PAY = {"amount": 1250, "currency": "eur", "paymentMethod": "pm_card_visa", "confirm": True}
DECLINED = "pm_card_chargeCustomerFail"

Ask = Callable[..., Result]


@pytest.fixture(scope="module")
def server() -> Iterator[StripeServer]:
    started = StripeServer()
    yield started
    started.stop()


@pytest.fixture
def ask(
    server: StripeServer,
    make_context: Callable[..., Context],
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> Ask:
    """Return a function that runs a module; `step` names the idempotency keys of one test."""
    monkeypatch.setenv("VALKYR_STRIPE_API_BASE", server.url)
    monkeypatch.setenv("VALKYR_HTTP_ALLOWED_NETWORKS", "127.0.0.0/8")

    def ask(kind: str, *, step: str = "pay", key: str = SECRET, **inputs: Any) -> Result:
        context = make_context()
        context.idempotency_key = f"{request.node.name} {step}"
        context.reveal({"api_key": key}, Scrubber({"api_key": key}))
        result = registry.get(f"stripe.{kind}").run(inputs, context)
        assert isinstance(result, Result)
        return result

    return ask


def calls(server: StripeServer) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = httpx.get(f"{server.url}/_counterpart/calls").json()
    return found


def refused(ask: Ask, kind: str, **inputs: Any) -> Failure:
    with pytest.raises(StepError) as caught:
        ask(kind, **inputs)
    return classify(caught.value)


def test_a_payment_is_created_and_collected_at_once(ask: Ask) -> None:
    paid = ask("payment_intent", **PAY, metadata={"orderId": "ORD-17"}).outputs

    assert paid["id"].startswith("pi_")
    assert (paid["status"], paid["amount"], paid["currency"]) == ("succeeded", 1250, "eur")
    assert paid["charge"].startswith("ch_")
    assert "secret" not in str(paid)


def test_a_payment_goes_in_steps(ask: Ask) -> None:
    given = {key: value for key, value in PAY.items() if key != "confirm"}
    made = ask("payment_intent", **given, captureMethod="manual").outputs
    named = {"paymentIntent": made["id"]}
    held = ask("payment_intent", step="b", operation="confirm", **named).outputs
    paid = ask("payment_intent", step="c", operation="capture", **named, amount=1000).outputs
    seen = ask("payment_intent", step="d", operation="retrieve", **named).outputs

    states = [found["status"] for found in (made, held, paid, seen)]
    assert states == ["requires_confirmation", "requires_capture", "succeeded", "succeeded"]


def test_a_payment_that_nobody_confirmed_can_be_cancelled(ask: Ask) -> None:
    made = ask("payment_intent", amount=5, currency="jpy").outputs
    gone = ask("payment_intent", step="b", operation="cancel", paymentIntent=made["id"]).outputs

    assert (made["status"], gone["status"]) == ("requires_payment_method", "canceled")


def test_the_same_step_pays_once_however_often_it_is_tried(ask: Ask, server: StripeServer) -> None:
    first, second = (ask("payment_intent", **PAY).outputs for _ in range(2))
    other = ask("payment_intent", **PAY, step="another").outputs

    assert first == second
    assert other["id"] != first["id"]
    assert all(call["key"] for call in calls(server) if call["method"] == "POST")


def test_a_key_that_was_used_for_something_else_is_told_as_that(ask: Ask) -> None:
    ask("payment_intent", **PAY)

    failure = refused(ask, "payment_intent", **PAY | {"amount": 999})

    assert failure.error_type is ErrorType.PERMANENT
    assert "received this step's idempotency key" in failure.message


def test_a_declined_card_fails_the_step_for_good_and_says_why(ask: Ask) -> None:
    failure = refused(ask, "payment_intent", **PAY | {"paymentMethod": DECLINED})

    assert failure.error_type is ErrorType.PERMANENT
    assert failure.message.startswith("the card was declined (generic_decline)")
    assert failure.details["code"] == "card_declined"
    assert "4000" not in str(failure)


def test_a_declined_card_is_an_outcome_where_the_step_asks_for_it(ask: Ask) -> None:
    declined = PAY | {"paymentMethod": DECLINED, "onDecline": "branch"}

    refusal = ask("payment_intent", **declined)
    accepted = ask("payment_intent", step="b", **PAY | {"onDecline": "branch"})

    assert refusal.outcome == "declined"
    assert refusal.outputs["status"] == "requires_payment_method"
    assert refusal.outputs["declineCode"] == "generic_decline"
    assert accepted.outcome == "accepted"
    spec = registry.specs()["stripe.payment_intent"]
    assert list(spec.outcomes_for(declined)) == ["accepted", "declined"]
    assert list(spec.outcomes_for(PAY)) == []


def test_money_is_given_back_in_parts_and_once_each(ask: Ask) -> None:
    paid = ask("payment_intent", **PAY).outputs

    part, again = (
        ask("refund", step="r", paymentIntent=paid["id"], amount=500).outputs for _ in range(2)
    )

    assert part == again
    assert (part["amount"], part["currency"], part["status"]) == (500, "eur", "succeeded")
    assert part["charge"] == paid["charge"]


def test_customers_are_created_changed_and_read(ask: Ask) -> None:
    ann = ask("customer", email="ann@example.com", name="Ann", metadata={"userId": "17"}).outputs
    named = {"customer": ann["id"]}
    changed = ask("customer", step="b", operation="update", **named, name="Ann Li").outputs
    read = ask("customer", step="c", operation="retrieve", **named).outputs

    assert ann["metadata"] == {"userId": "17"}
    assert changed["name"] == read["name"] == "Ann Li"


def test_a_request_can_be_for_a_connected_account(ask: Ask, server: StripeServer) -> None:
    ask("customer", name="Ann", stripeAccount="acct_1032D82eZvKYlo2C")

    assert calls(server)[-1]["account"] == "acct_1032D82eZvKYlo2C"


def test_a_wrong_key_is_told_without_the_key(ask: Ask) -> None:
    failure = refused(ask, "customer", name="Ann", key="pk_no_secret_key")

    assert failure.error_type is ErrorType.PERMANENT
    assert "check the credential's api_key" in failure.message
    assert "pk_no" not in str(failure)


def test_a_key_that_no_header_can_hold_is_refused_here(ask: Ask, server: StripeServer) -> None:
    before = len(calls(server))

    failure = refused(ask, "customer", name="Ann", key="sk_test_a\r\nX-Other: b")

    assert "not a single printable word" in failure.message
    assert len(calls(server)) == before


@pytest.mark.parametrize(
    ("status", "expected"),
    [(429, "TRANSIENT"), (500, "TRANSIENT"), (503, "TRANSIENT"), (409, "TRANSIENT"),
     (400, "PERMANENT"), (403, "PERMANENT"), (404, "PERMANENT")],
)  # fmt: skip
def test_refusals_are_classed_by_what_they_mean(ask: Ask, status: int, expected: str) -> None:
    failure = refused(ask, "customer", description=f"stub_status {status}")

    assert failure.error_type == ErrorType[expected], failure.message
    assert failure.retry_after == 7


def test_a_server_that_is_not_there_is_tried_again(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VALKYR_STRIPE_API_BASE", "http://127.0.0.1:9")

    failure = refused(ask, "customer", name="Ann")

    assert failure.error_type is ErrorType.TRANSIENT
    assert failure.message.startswith("127.0.0.1:9: ConnectError")


def test_the_address_is_no_way_into_a_private_network(
    ask: Ask, server: StripeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Under another name, or an open connection would be used.
    monkeypatch.setenv("VALKYR_STRIPE_API_BASE", server.url.replace("127.0.0.1", "localhost"))
    monkeypatch.delenv("VALKYR_HTTP_ALLOWED_NETWORKS")

    failure = refused(ask, "customer", name="Ann")

    assert "a private or special address" in failure.message


def test_breakers_count_by_the_api_s_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VALKYR_STRIPE_API_BASE", raising=False)
    module = registry.get("stripe.refund")

    assert module.circuit(module.validated({"charge": "ch_1"})) == "stripe:api.stripe.com"
    monkeypatch.setenv("VALKYR_STRIPE_API_BASE", "nonsense")
    assert module.circuit(module.validated({"charge": "ch_1"})) is None


@pytest.mark.parametrize(("module_type", "bad"), rows(types=TYPES))
def test_a_bad_input_is_refused(module_type: str, bad: Any, step_context: Context) -> None:
    check_row(module_type, bad, step_context)
