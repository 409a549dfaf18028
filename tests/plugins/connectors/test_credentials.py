"""Tests of modules that take a credential: how they use it, and what they reject."""

import base64
from collections.abc import Callable
from typing import Any

import pytest

from executions.definition.catalog import catalog
from runners.modules import registry
from runners.modules.base import Module, ModuleInputs, Result, StepContext, StepError
from runners.modules.function_step import step
from runners.secrets.scrubbing import Scrubber
from runners.segment.step_context import Context
from tests.support.partner import Partner
from valkyr_plugins.connectors.mail.delivery import SmtpServer, destination

MakeContext = Callable[..., Context]
BASIC = {"username": "ann", "password": "päss:word"}


def asked(context: Context, credential: Any, **inputs: Any) -> dict[str, Any]:
    context.reveal(credential, Scrubber({}))
    outputs = registry.get("http.request").run(inputs, context).outputs  # type: ignore[union-attr]
    assert isinstance(outputs, dict)
    return outputs


@pytest.mark.parametrize(
    ("credential", "header"),
    [
        ({"token": "t0ken-value"}, "Bearer t0ken-value"),
        (BASIC, f"Basic {base64.b64encode('ann:päss:word'.encode()).decode()}"),
        (None, None),
    ],
)
def test_a_credential_becomes_the_authorization_header(
    partner: Partner, step_context: Context, credential: Any, header: str | None
) -> None:
    asked(step_context, credential, url=partner.url)

    assert partner.received[0]["headers"].get("authorization") == header


@pytest.mark.parametrize(
    ("credential", "headers", "said"),
    [
        ({"url": "smtp://x"}, {}, "expected bearer .* found the fields url"),
        ({"token": "two\nlines"}, {}, "token is not printable ASCII"),
        ({"token": "t0ken-value"}, {"Authorization": "mine"}, "both set Authorization"),
    ],
)
def test_a_credential_that_makes_no_header_fails_before_anything_is_sent(
    partner: Partner, step_context: Context, credential: Any, headers: Any, said: str
) -> None:
    with pytest.raises(StepError, match=said):
        asked(step_context, credential, url=partner.url, headers=headers)

    assert partner.received == []


def test_another_origin_does_not_get_the_credential(
    partner: Partner, step_context: Context
) -> None:
    other = Partner()
    try:
        target = f"{partner.url}/redirect?to={other.url}/"
        asked(step_context, {"token": "t0ken-value"}, url=target)
    finally:
        other.stop()

    assert "authorization" in partner.received[0]["headers"]
    assert "authorization" not in other.received[0]["headers"]


@pytest.mark.parametrize("code", [307, 308])
def test_a_body_of_a_step_with_secrets_goes_to_no_other_origin(
    partner: Partner, step_context: Context, code: int
) -> None:
    other = Partner()
    inputs = {"method": "POST", "json": {"key": "s3cret"}}
    step_context.reveal(None, Scrubber({}))
    try:
        target = f"{partner.url}/redirect?code={code}&to={other.url}/"
        with pytest.raises(StepError, match="its body is not sent to another origin") as caught:
            registry.get("http.request").run({"url": target, **inputs}, step_context)
        same = f"{partner.url}/redirect?code={code}&to=/echo"
        kept = registry.get("http.request").run({"url": same, **inputs}, step_context)
        seen = f"{partner.url}/redirect?code=303&to={other.url}/"
        registry.get("http.request").run({"url": seen, **inputs}, step_context)
    finally:
        other.stop()

    assert other.url.removesuffix("/") in caught.value.message
    assert isinstance(kept, Result)
    assert kept.outputs["body"]["body"] == '{"key": "s3cret"}'
    assert [request["method"] for request in other.received] == ["GET"]


def test_a_mail_server_of_a_credential_is_no_private_one(
    step_context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VALKYR_HTTP_ALLOWED_NETWORKS", raising=False)
    step_context.reveal({"url": "smtp://127.0.0.1:25"}, Scrubber({}))
    mail = {"from": "a@example.com", "to": "b@example.com", "subject": "s"}

    with pytest.raises(StepError, match=r"127\.0\.0\.1, a private or special address"):
        registry.get("email.send").run(mail, step_context)


def test_a_credential_names_a_mail_server_and_nothing_else() -> None:
    assert destination({"url": "smtps://ann:p%40ss@mail.example"}) == SmtpServer(
        "mail.example", 465, "ann", "p@ss", "from_start", trusted=False
    )
    for url in ("file:///etc", "http://mail.example", "smtp://host:no", ""):
        with pytest.raises(StepError, match="the credential's url is not a valid URL") as caught:
            destination({"url": url})
        assert not url or url not in caught.value.message


def test_modules_say_which_credentials_they_take_and_whether_secrets() -> None:
    known = catalog()

    assert known["http.request"].credential == ("bearer", "basic")
    assert known["email.send"].credential == ("smtp",)
    assert {name for name, spec in known.items() if not spec.takes_secrets} >= {
        name for name in known if name.startswith(("flow.", "data."))
    }
    assert known["file.write"].takes_secrets


def test_a_function_can_take_a_credential(step_context: Context) -> None:
    step_context.reveal({"token": "t0ken-value"}, Scrubber({}))

    outputs = asks.__valkyr_module__.run({}, step_context).outputs  # type: ignore[attr-defined]

    assert asks.__valkyr_module__.credential == ("bearer",)  # type: ignore[attr-defined]
    assert outputs == "t0ken-value"


@step("acme.asks", credential=("bearer",))
def asks(ctx: StepContext) -> str:
    """Return the credential's token."""
    return (ctx.credential or {})["token"]


def test_a_module_that_gives_its_inputs_back_can_take_no_credential() -> None:
    with pytest.raises(TypeError, match="declares a credential"):

        class Inline(Module[ModuleInputs]):
            inline = True
            credential = ("bearer",)
