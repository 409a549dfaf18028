"""A step of any module connects only to hosts that its workspace's egress rules allow."""

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from executions.egress.rules import EgressRules
from runners.modules import registry
from runners.modules.base import StepError
from runners.modules.egress import EgressRefused, ruled_by
from runners.secrets.scrubbing import Scrubber
from runners.segment.step_context import Context
from runners.states import ErrorType
from tests.plugins.connectors.test_credential_hosts import CALLS, EMAIL
from tests.support.partner import Partner

NAMES = ("api.example.com", "*.example.org")


@pytest.fixture(autouse=True)
def _reachable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VALKYR_HTTP_ALLOWED_NETWORKS", "127.0.0.0/8")
    monkeypatch.setenv("VALKYR_STRIPE_API_BASE", "http://127.0.0.1:9")


def allowed(*hosts: str) -> Any:
    rules = EgressRules(hosts, own=True, workspace="shop", workspace_id=UUID(int=7))
    return ruled_by(lambda: rules)


def request(context: Context, url: str, **more: Any) -> Any:
    return registry.get("http.request").run({"url": url, **more}, context)


@pytest.mark.parametrize("name", CALLS)
def test_every_module_that_connects_keeps_the_egress_rules(
    name: str, make_context: Callable[..., Context]
) -> None:
    module, inputs, credential = CALLS[name]
    context = make_context(seconds=60)
    context.reveal(credential, Scrubber({}))

    with allowed(*NAMES), pytest.raises(StepError) as caught:
        registry.get(module).run(inputs, context)

    assert caught.value.error_type is ErrorType.PERMANENT
    said = caught.value.message
    assert 'the workspace "shop" does not allow connections to 127.0.0.1:9;' in said
    assert "its egress rules allow api.example.com, *.example.org." in said
    assert f"PATCH /v1/Workspace/{UUID(int=7)} with egressHosts" in said


def test_the_installations_mail_server_is_subject_to_the_rules_too(
    step_context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VALKYR_EMAIL_URL", "smtp://localhost:9")

    with allowed(*NAMES), pytest.raises(EgressRefused, match="localhost:9"):
        registry.get("email.send").run(EMAIL, step_context)
    with allowed("10.0.0.0/8"), pytest.raises(EgressRefused, match=r"localhost:9 \(.*127\.0\.0\.1"):
        registry.get("email.send").run(EMAIL, step_context)
    with allowed("localhost:9"), pytest.raises(StepError, match="Connection refused"):
        registry.get("email.send").run(EMAIL, step_context)


@pytest.mark.parametrize("code", [301, 307])
def test_a_redirect_out_of_the_egress_rules_is_not_followed(
    partner: Partner, step_context: Context, code: int
) -> None:
    other = Partner()
    here = f"127.0.0.1:{partner.server_port}"
    try:
        target = f"{partner.url}/redirect?code={code}&to={other.url}/"
        with allowed(here), pytest.raises(EgressRefused, match=f":{other.server_port}"):
            request(step_context, target)
        with allowed(here):
            request(step_context, f"{partner.url}/redirect?code={code}&to=/echo")
    finally:
        other.stop()

    assert other.received == []


def test_a_range_decides_by_the_resolved_address_and_on_open_connections_too(
    partner: Partner, step_context: Context
) -> None:
    here = f"http://localhost:{partner.server_port}/echo"

    with allowed("127.0.0.0/8"):
        request(step_context, here)
    with allowed(f"127.0.0.1:{partner.server_port}"):
        request(step_context, here)
    for refused in ("10.0.0.0/8", "127.0.0.0/8:1"):
        with allowed(refused), pytest.raises(EgressRefused, match="localhost"):
            request(step_context, here)

    assert len(partner.received) == 2


def test_a_range_decides_on_databases_brokers_and_stores_by_their_address(
    make_context: Callable[..., Context],
) -> None:
    for name in ("sql.query", "redis", "amqp", "file.read"):
        module, inputs, credential = CALLS[name]
        context = make_context(seconds=60)
        named = {key: value.replace("127.0.0.1", "localhost") for key, value in credential.items()}
        given = {
            key: value.replace("127.0.0.1", "localhost") if isinstance(value, str) else value
            for key, value in inputs.items()
        }
        context.reveal(named, Scrubber({}))
        with allowed("10.0.0.0/8"), pytest.raises(StepError, match="does not allow connections"):
            registry.get(module).run(given, context)


def test_a_name_of_the_rules_opens_no_private_address(
    partner: Partner, step_context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VALKYR_HTTP_ALLOWED_NETWORKS")

    with allowed("localhost", "127.0.0.0/8"), pytest.raises(StepError, match="a private or"):
        request(step_context, f"http://localhost:{partner.server_port}/")


def test_a_host_header_names_no_host_outside_of_the_rules(
    partner: Partner, step_context: Context
) -> None:
    here = f"http://localhost:{partner.server_port}/"
    with allowed("localhost"), pytest.raises(EgressRefused, match="evil"):
        request(step_context, here, headers={"Host": "evil.example"})

    assert partner.received == []


def test_stores_whose_connections_cannot_be_checked_are_not_opened(
    step_context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VALKYR_FILE_SCHEMES", "memory")

    with allowed(*NAMES), pytest.raises(StepError, match="memory:// cannot be opened"):
        registry.get("file.read").run({"path": "memory://shop/a.txt"}, step_context)


def test_files_and_mail_folders_of_the_machine_are_no_connections(
    step_context: Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VALKYR_EMAIL_URL", f"file://{tmp_path}")

    with allowed(*NAMES):
        registry.get("email.send").run(EMAIL, step_context)

    assert len(list(tmp_path.iterdir())) == 1


def test_nothing_is_resolved_for_a_host_that_no_entry_allows(
    step_context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(socket, "getaddrinfo", lambda *given, **_: asked.append(given))

    with allowed(*NAMES), pytest.raises(EgressRefused):
        request(step_context, "https://secret-in-the-name.evil.example/")

    assert asked == []
