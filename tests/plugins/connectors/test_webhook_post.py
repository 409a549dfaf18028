"""`webhook.post` signs by Standard Webhooks, repeats the same id, and judges answers."""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from runners.modules import registry
from runners.modules.base import Result, StepError
from runners.secrets.scrubbing import Scrubber
from runners.segment.step_context import Context
from runners.states import ErrorType
from tests.support.module_fixtures import KEY
from tests.support.partner import Partner
from valkyr_plugins.connectors.messages.webhook_exchange import keys, signatures

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
PAYLOAD = {"type": "order.shipped", "data": {"orderId": "ORD-1", "note": "Grüße"}}


@pytest.fixture
def post(partner: Partner, step_context: Context) -> Callable[..., Any]:
    def send(path: str = "/echo", secret: str | None = None, **config: Any) -> Any:
        if secret is not None:
            step_context.reveal({"secret": secret}, Scrubber({}))
        given = {"url": f"{partner.url}{path}", "payload": PAYLOAD, **config}
        result = registry.get("webhook.post").run(given, step_context)
        assert isinstance(result, Result)
        return result.outputs

    return send


def verified(secret: str, headers: dict[str, str], body: str) -> bool:
    """Return whether a receiver, written from the specification, accepts the signature."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.{body}".encode()
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return f"v1,{expected}" in headers["webhook-signature"].split(" ")


def test_the_signature_is_that_of_the_specifications_example() -> None:
    body = b'{"test": 2432232314}'

    found = signatures(keys(SECRET), "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body)

    assert found == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_a_receiver_can_verify_what_it_gets(partner: Partner, post: Callable[..., Any]) -> None:
    began = int(time.time())
    found = post(secret=SECRET)

    (seen,) = partner.received
    assert (found["id"], found["signed"], found["status"]) == (KEY, True, 200)
    assert seen["headers"]["webhook-id"] == KEY
    assert began <= int(seen["headers"]["webhook-timestamp"]) <= time.time()
    assert json.loads(seen["body"]) == PAYLOAD
    assert verified(SECRET, seen["headers"], seen["body"])
    assert "authorization" not in seen["headers"]


def test_two_secrets_sign_both_while_one_replaces_the_other(
    partner: Partner, post: Callable[..., Any]
) -> None:
    newer = "whsec_" + base64.b64encode(b"n" * 32).decode()

    post(secret=f"{SECRET} {newer}")

    (seen,) = partner.received
    assert verified(SECRET, seen["headers"], seen["body"])
    assert verified(newer, seen["headers"], seen["body"])


def test_a_plain_text_is_a_key_too() -> None:
    assert keys("sixteen letters!") == [b"sixteen letters!"]


@pytest.mark.parametrize(
    ("secret", "said"),
    [
        ("short!", "a key of 6 bytes"),
        ("whsec_%%%%%%%%", "not Base64"),
        ("      ", "a key of 6 bytes"),
    ],
)
def test_a_secret_that_is_no_key_is_refused_and_not_quoted(
    partner: Partner, post: Callable[..., Any], secret: str, said: str
) -> None:
    with pytest.raises(StepError, match=said) as caught:
        post(secret=secret)

    assert not secret.strip() or secret not in caught.value.message
    assert partner.received == []


def test_without_a_credential_the_message_has_an_id_and_no_signature(
    partner: Partner, post: Callable[..., Any]
) -> None:
    assert post()["signed"] is False
    assert "webhook-signature" not in partner.received[0]["headers"]
    assert partner.received[0]["headers"]["webhook-id"] == KEY


@pytest.mark.parametrize(
    ("path", "error_type", "said"),
    [
        ("/status?code=410", ErrorType.PERMANENT, "answered 410 Gone"),
        ("/status?code=500", ErrorType.TRANSIENT, "answered 500"),
        ("/status?code=304", ErrorType.PERMANENT, "answered 304"),
        ("/redirect?to=/echo", ErrorType.PERMANENT, "does not follow redirects"),
    ],
)
def test_any_other_answer_fails_the_step(
    partner: Partner, post: Callable[..., Any], path: str, error_type: ErrorType, said: str
) -> None:
    with pytest.raises(StepError, match=said) as caught:
        post(path)

    assert caught.value.error_type is error_type
    assert len(partner.received) == 1


def test_no_more_of_an_answer_is_read_than_is_shown(
    partner: Partner, post: Callable[..., Any]
) -> None:
    assert post("/endless")["answer"] == "x" * 2_000
