"""A step's credentials are sent only to their hosts, from every module and by every route."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from executions.credentials import Boundary
from executions.credentials.boundary import ANY
from runners.modules import registry
from runners.modules.base import StepError
from runners.modules.credential_hosts import HostRefused, judge, using
from runners.secrets.scrubbing import Scrubber
from runners.segment.step_context import Context
from runners.states import ErrorType
from tests.support.partner import Partner

FAR = {"key": Boundary(("api.example.com",))}
EMAIL = {"from": "a@example.com", "to": "b@example.com", "subject": "s", "text": "t"}
ASKS = {
    "model": "gpt-5",
    "messages": [{"role": "user", "content": "hello"}],
    "baseUrl": "http://127.0.0.1:9/v1",
}

# Each would connect to 127.0.0.1, which the credential does not name.
CALLS: dict[str, tuple[str, dict[str, Any], dict[str, str] | None]] = {
    "http.request": ("http.request", {"url": "http://127.0.0.1:9/"}, {"token": "t0ken-value"}),
    "http.paginate": (
        "http.paginate",
        {"url": "http://127.0.0.1:9/", "strategy": "link", "items": "body"},
        None,
    ),
    "graphql.query": ("graphql.query", {"url": "http://127.0.0.1:9/", "query": "{ a }"}, None),
    "rss.read": ("rss.read", {"url": "http://127.0.0.1:9/"}, None),
    "webhook.post": ("webhook.post", {"url": "http://127.0.0.1:9/", "payload": {}}, None),
    "slack.post": ("slack.post", {"text": "t"}, {"webhook_url": "http://127.0.0.1:9/hook"}),
    "llm.chat": ("llm.chat", ASKS, {"token": "t0ken-value"}),
    "llm.embed": (
        "llm.embed",
        {"model": "m", "texts": ["a"], "baseUrl": ASKS["baseUrl"]},
        {"token": "t0ken-value"},
    ),
    "mcp.call": (
        "mcp.call",
        {"url": "http://127.0.0.1:9/mcp", "tool": "find"},
        {"token": "t0ken-value"},
    ),
    "mcp.tools": ("mcp.tools", {"url": "http://127.0.0.1:9/mcp"}, {"token": "t0ken-value"}),
    "stripe.customer": (
        "stripe.customer",
        {"operation": "retrieve", "customer": "cus_NffrFeUfNV2Hib"},
        {"api_key": "sk_test_123456"},
    ),
    "sql.query": (
        "sql.query",
        {"statement": "SELECT 1"},
        {"url": "postgresql://u:pass-word@127.0.0.1:9/shop"},
    ),
    "email.send": ("email.send", EMAIL, {"url": "smtp://127.0.0.1:9"}),
    "redis": (
        "queue.publish",
        {"queue": "q", "json": 1},
        {"url": "redis://:pass-word@127.0.0.1:9/7"},
    ),
    "amqp": (
        "queue.publish",
        {"queue": "q", "json": 1},
        {"url": "amqp://u:pass-word@127.0.0.1:9/x"},
    ),
    "file.read": (
        "file.read",
        {"path": "s3://bucket/key", "endpoint": "http://127.0.0.1:9"},
        {"access_key": "AKIA123456", "secret_key": "s3cret-key"},
    ),
    "file.list": (
        "file.list",
        {"path": "s3://bucket/key", "endpoint": "http://127.0.0.1:9"},
        {"access_key": "AKIA123456", "secret_key": "s3cret-key"},
    ),
}


@pytest.fixture(autouse=True)
def _reachable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VALKYR_HTTP_ALLOWED_NETWORKS", "127.0.0.0/8")
    monkeypatch.setenv("VALKYR_STRIPE_API_BASE", "http://127.0.0.1:9")


@pytest.mark.parametrize("name", CALLS)
def test_every_module_that_connects_judges_the_host(
    name: str, make_context: Callable[..., Context]
) -> None:
    module, inputs, credential = CALLS[name]
    context = make_context(seconds=60)
    context.reveal(credential, Scrubber({}))

    with using(FAR), pytest.raises(StepError) as caught:
        registry.get(module).run(inputs, context)

    assert caught.value.error_type is ErrorType.PERMANENT
    said = 'the credential "key" may not be sent to 127.0.0.1:9, only to api.example.com.'
    assert said in caught.value.message


def test_every_module_that_takes_a_credential_says_what_it_judges() -> None:
    silent = {
        name for name, spec in registry.specs().items() if spec.credential and not spec.judges_hosts
    }
    judging = {name for name, spec in registry.specs().items() if spec.judges_hosts}
    tried = {module for module, _, _ in CALLS.values()}
    # The others belong to a family that is tested, with the same client.
    families = {name.partition(".")[0] for name in tried}

    assert not {name for name in silent if not name.startswith("test.")}
    assert {name.partition(".")[0] for name in judging} - families <= {"archive", "quality"}


def request(context: Context, url: str, **more: Any) -> Any:
    return registry.get("http.request").run({"url": url, **more}, context)


def only(partner: Partner) -> dict[str, Boundary]:
    return {"key": Boundary((f"127.0.0.1:{partner.server_port}",))}


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_redirect_out_of_the_boundary_is_not_followed(
    partner: Partner, step_context: Context, code: int
) -> None:
    other = Partner()
    step_context.reveal({"token": "t0ken-value"}, Scrubber({}))
    try:
        target = f"{partner.url}/redirect?code={code}&to={other.url}/"
        with using(only(partner)), pytest.raises(HostRefused, match=f":{other.server_port}"):
            request(step_context, target)
        with using(only(partner)):
            request(step_context, f"{partner.url}/redirect?code={code}&to=/echo")
    finally:
        other.stop()

    assert other.received == []


def test_an_open_connection_is_judged_again(partner: Partner, step_context: Context) -> None:
    request(step_context, f"{partner.url}/echo")

    with using(FAR), pytest.raises(HostRefused):
        request(step_context, f"{partner.url}/echo")

    assert len(partner.received) == 1


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"host": "127.0.0.1, evil.example"},
        {"Host": ""},
        {"hOsT": "[::1]:9"},
    ],
)
def test_a_host_header_names_no_other_site_of_the_server(
    partner: Partner, step_context: Context, headers: dict[str, str]
) -> None:
    with using(only(partner)), pytest.raises(HostRefused):
        request(step_context, partner.url, headers=headers)
    assert partner.received == []

    with using({"key": Boundary(("127.0.0.1", "shop.example"))}):
        request(step_context, partner.url, headers={"Host": "shop.example:80"})
    assert partner.received[0]["headers"]["host"] == "shop.example:80"


def test_all_credentials_of_a_step_are_judged(partner: Partner, step_context: Context) -> None:
    with using({**only(partner), **FAR}), pytest.raises(HostRefused, match='"key"'):
        request(step_context, partner.url)
    with using({**only(partner), "any": Boundary((ANY,))}):
        request(step_context, partner.url)


def test_nothing_is_judged_after_the_step(partner: Partner, step_context: Context) -> None:
    with using(FAR):
        pass

    request(step_context, partner.url)
    judge("anywhere.example.com", 443)


def test_a_mail_into_the_administrators_folder_is_no_connection(
    step_context: Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VALKYR_EMAIL_URL", f"file://{tmp_path}")

    with using(FAR):
        registry.get("email.send").run(EMAIL, step_context)

    assert len(list(tmp_path.iterdir())) == 1
