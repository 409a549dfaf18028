"""Tests of `mcp.call` and `mcp.tools` against real servers of the official SDK."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from runners.modules import registry
from runners.modules.base import Result, StepError
from runners.segment.step_context import Context
from runners.states import ErrorType
from tests.support.counterparts.mcp import ShopServer
from tests.support.module_fixtures import KEY


@pytest.fixture(autouse=True)
def reachable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an administrator allow steps to reach this machine."""
    monkeypatch.setenv("VALKYR_HTTP_ALLOWED_NETWORKS", "127.0.0.0/8")


@pytest.fixture(params=["sessions", "stateless", "json"])
def shop(request: pytest.FixtureRequest) -> Iterator[ShopServer]:
    """Run a server of each kind."""
    server = ShopServer(stateless=request.param == "stateless", json=request.param == "json")
    yield server
    server.stop()


def run(module: str, ctx: Context, **config: Any) -> Any:
    result = registry.get(module).run(config, ctx)
    assert isinstance(result, Result)
    return result.outputs


def fail(module: str, ctx: Context, **config: Any) -> StepError:
    with pytest.raises(StepError) as caught:
        registry.get(module).run(config, ctx)
    return caught.value


def test_a_tool_is_called_once_with_the_steps_idempotency_key(
    shop: ShopServer, step_context: Context
) -> None:
    found = run(
        "mcp.call", step_context, url=shop.url, tool="find_order", arguments={"number": "7"}
    )

    assert found["structured"] == {"number": "7", "total": 12}
    assert '"total"' in found["text"]
    assert found["isError"] is False
    assert shop.calls == {"find_order": 1}
    assert shop.keys == [KEY]


def test_an_error_of_the_tool_fails_the_step_or_is_returned(
    shop: ShopServer, step_context: Context
) -> None:
    given = {"url": shop.url, "tool": "refund", "arguments": {"number": "7"}}

    failure = fail("mcp.call", step_context, **given)
    found = run("mcp.call", step_context, **given, onToolError="return")

    assert "already refunded" in failure.message
    assert failure.error_type == ErrorType.PERMANENT
    assert found["isError"] is True
    assert "already refunded" in found["text"]


def test_an_unknown_tool_and_wrong_arguments_are_permanent_failures(
    shop: ShopServer, step_context: Context
) -> None:
    unknown = fail("mcp.call", step_context, url=shop.url, tool="sell")
    wrong = fail("mcp.call", step_context, url=shop.url, tool="find_order", arguments={"no": 1})

    assert "sell" in unknown.message
    assert "number" in wrong.message
    assert {unknown.error_type, wrong.error_type} == {ErrorType.PERMANENT}


def test_tools_are_listed_in_the_form_that_models_take(
    shop: ShopServer, step_context: Context
) -> None:
    found = run("mcp.tools", step_context, url=shop.url, only=["find_order"])

    [tool] = found["tools"]
    assert tool["name"] == "find_order"
    assert tool["description"] == "Finds an order by its number."
    assert tool["parameters"]["required"] == ["number"]
    assert len(run("mcp.tools", step_context, url=shop.url)["tools"]) == 4
    failure = fail("mcp.tools", step_context, url=shop.url, only=["sell"])
    assert "has no tool sell" in failure.message


def test_a_tool_that_takes_too_long_or_answers_too_much_fails_the_step(
    shop: ShopServer, step_context: Context
) -> None:
    slow = fail("mcp.call", step_context, url=shop.url, tool="slow", timeoutSeconds=0.5)
    long = fail("mcp.call", step_context, url=shop.url, tool="long", maxBytes=10_000)

    assert slow.error_type == ErrorType.TIMEOUT
    assert "timeoutSeconds" in slow.message
    assert "10,000 bytes" in long.message


def test_a_rejected_sign_in_names_the_credential_and_overload_is_retried(
    make_context: Callable[..., Context],
) -> None:
    server = ShopServer(token="sk-shop")
    try:
        given = {"url": server.url, "tool": "find_order", "arguments": {"number": "7"}}
        refused = fail("mcp.call", make_context(), **given)
        right = {"headers": {"Authorization": "Bearer sk-shop"}}
        found = run("mcp.call", make_context(), **given, **right)
        server.statuses += [503] * 10
        busy = fail("mcp.call", make_context(), **given, **right)
    finally:
        server.stop()

    assert "401" in refused.message
    assert "credential" in refused.message
    assert refused.error_type == ErrorType.PERMANENT
    assert found["structured"]["total"] == 12
    assert "503" in busy.message
    assert busy.error_type == ErrorType.TRANSIENT


def test_a_server_that_is_gone_is_a_transient_failure(step_context: Context) -> None:
    failure = fail("mcp.call", step_context, url="http://127.0.0.1:1/mcp", tool="t")

    assert failure.error_type == ErrorType.TRANSIENT
    assert "127.0.0.1:1" in failure.message


def test_a_private_address_is_rejected_before_a_connection(
    step_context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VALKYR_HTTP_ALLOWED_NETWORKS", "")
    server = ShopServer()
    try:
        failure = fail("mcp.call", step_context, url=server.url, tool="find_order")
    finally:
        server.stop()

    assert "a private or special address" in failure.message
    assert server.calls == {}
