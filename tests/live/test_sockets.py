"""Watching a workflow over a WebSocket: the same frames and checks as server-sent events."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from executions.models import Workflow
from tests.live import moving
from tests.live.conftest import person
from tests.live.moving import do
from tests.live.test_doors import cookie_of
from tests.support.watching import LiveRun, watch
from tests.support.web_server import WebServer
from tests.support.workflows import default_workspace, start

Address = Callable[[UUID], str]
Headers = dict[str, str]


@pytest.fixture
def url(web: WebServer, workflow: Workflow) -> str:
    """Return the URL for watching a workflow's executions."""
    return f"{web.address}/v1/vaiworkflow/subscribe/{workflow.pk}"


def ws(url: str) -> str:
    return url.replace("http://", "ws://")


def take(socket: ClientConnection, seen: LiveRun) -> None:
    told = json.loads(socket.recv(timeout=60))
    seen.take(told["event"], told["id"], told["data"])


@contextmanager
def socket_to(url: str, headers: Headers | None = None, **more: Any) -> Iterator[ClientConnection]:
    with connect(ws(url), additional_headers=headers or {}, open_timeout=30, **more) as made:
        yield made


def close_code(url: str, headers: Headers | None = None, **more: Any) -> int:
    with socket_to(url, headers, **more) as socket, pytest.raises(ConnectionClosed) as closed:
        socket.recv(timeout=60)
    assert closed.value.rcvd is not None
    return closed.value.rcvd.code


def test_a_socket_carries_the_same_frames(url: str, ann: Headers, workflow: Workflow) -> None:
    first, seen = start(workflow), LiveRun()
    with socket_to(url, ann) as socket:
        take(socket, seen)
        assert seen.executions[str(first)]["state"] == "RUNNING"
        second = start(workflow)
        while str(second) not in seen.executions:
            take(socket, seen)
        do(moving.END, first)
        while seen.executions[str(first)]["state"] != "SUCCESS":
            take(socket, seen)

    assert seen.events[0] == "snapshot"
    assert set(seen.events[1:]) == {"state"}


def test_a_socket_comes_back_with_the_last_id(url: str, ann: Headers, execution: UUID) -> None:
    seen, back = LiveRun(), LiveRun()
    with socket_to(url, ann) as socket:
        take(socket, seen)
    do(moving.END, execution)

    with socket_to(f"{url}?last={seen.last}", ann) as socket:
        take(socket, back)

    assert back.events == ["state"]
    assert back.executions[str(execution)]["state"] == "SUCCESS"


def test_a_browser_gives_its_token_as_a_subprotocol(url: str, ann: Headers) -> None:
    token: Any = ann["Authorization"].removeprefix("Bearer ")
    with socket_to(url, subprotocols=["bearer", token]) as socket:
        take(socket, seen := LiveRun())

    assert socket.subprotocol == "bearer"
    assert seen.events == ["snapshot"]


def test_the_cookie_counts_from_pages_of_this_host_alone(web: WebServer, url: str) -> None:
    cookie = cookie_of(person("ann", default_workspace()))

    with socket_to(url, cookie, origin=web.address) as socket:
        take(socket, seen := LiveRun())

    assert seen.events == ["snapshot"]
    assert close_code(url, cookie, origin="https://evil.example") == 4403
    assert close_code(url, cookie, origin=web.address.replace("http:", "https:")) == 4403
    assert close_code(url, cookie) == 4403
    odd = cookie | {"Authorization": "Basic eDp5"}
    assert close_code(url, odd, origin="https://evil.example") == 4401


def test_a_refusal_is_a_close_code(url: str, stranger: Headers, ann: Headers) -> None:
    assert close_code(url) == 4401
    assert close_code(url, stranger) == 4404
    assert close_code(f"{url}?since=3", ann) == 4422


@pytest.mark.parametrize("path", ["/", "/v1/Run", "/admin/", "/v1/vaiworkflow/subscribe/x"])
def test_nothing_else_has_a_socket(web: WebServer, ann: Headers, path: str) -> None:
    with pytest.raises(InvalidStatus) as refused, socket_to(web.address + path, ann):
        pass

    assert refused.value.response.status_code == 404


def test_one_execution_has_no_socket(address: Address, ann: Headers, execution: UUID) -> None:
    with pytest.raises(InvalidStatus) as refused, socket_to(address(execution), ann):
        pass

    assert refused.value.response.status_code == 404
    assert watch(address(execution), ann, LiveRun(), frames=1).events == ["snapshot"]


def test_a_client_that_talks_is_cut_short(url: str, ann: Headers) -> None:
    for text, code in (("x" * 2_000, 1009), ("x" * 200_000, 1009)):
        with socket_to(url, ann) as socket:
            socket.send(text)
            with pytest.raises(ConnectionClosed) as closed:
                list(iter(socket.recv, None))
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == code


def test_a_word_now_and_then_does_no_harm(url: str, ann: Headers, execution: UUID) -> None:
    seen = LiveRun()
    with socket_to(url, ann) as socket:
        take(socket, seen)
        socket.send("ping")
        socket.send(b"ping")
        do(moving.END, execution)
        while seen.executions[str(execution)]["state"] != "SUCCESS":
            take(socket, seen)
