"""The same over a WebSocket: the same frames, the same doors, and nothing else has a socket."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from tests.live import moving
from tests.live.conftest import person
from tests.live.moving import do, in_database, run_at
from tests.live.test_doors import cookie_of
from tests.support.watching import LiveRun
from tests.support.web_server import WebServer
from tests.support.workflows import default_workspace

Address = Callable[[UUID], str]
Headers = dict[str, str]


def ws(url: str) -> str:
    return url.replace("http://", "ws://")


def take(socket: ClientConnection, seen: LiveRun) -> None:
    told = json.loads(socket.recv(timeout=30))
    seen.take(told["event"], told["id"], told["data"])


@contextmanager
def socket_to(url: str, headers: Headers | None = None, **more: Any) -> Iterator[ClientConnection]:
    with connect(ws(url), additional_headers=headers or {}, open_timeout=30, **more) as made:
        yield made


def close_code(url: str, headers: Headers | None = None, **more: Any) -> int:
    with socket_to(url, headers, **more) as socket, pytest.raises(ConnectionClosed) as closed:
        socket.recv(timeout=30)
    assert closed.value.rcvd is not None
    return closed.value.rcvd.code


def test_a_socket_carries_the_same_frames(address: Address, ann: Headers, execution: UUID) -> None:
    a = run_at(execution, "a.main")
    seen = LiveRun()
    with socket_to(address(execution), ann) as socket:
        take(socket, seen)
        assert seen.states() == in_database(execution)
        do(moving.TAKE, a.pk)
        while seen.states()[str(a.pk)] != "RUNNING":
            take(socket, seen)
        do(moving.END, execution)
        while not seen.ended:
            take(socket, seen)
        with pytest.raises(ConnectionClosed) as closed:
            socket.recv(timeout=30)

    assert seen.events[0] == "snapshot"
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1000


def test_a_socket_comes_back_with_the_last_id(
    address: Address, ann: Headers, execution: UUID
) -> None:
    a, seen, back = run_at(execution, "a.main"), LiveRun(), LiveRun()
    with socket_to(address(execution), ann) as socket:
        take(socket, seen)
    do(moving.TAKE, a.pk)

    with socket_to(f"{address(execution)}?last={seen.last}", ann) as socket:
        take(socket, back)

    assert back.events == ["state"]
    assert back.states()[str(a.pk)] == "RUNNING"


def test_a_browser_gives_its_token_as_a_subprotocol(
    address: Address, ann: Headers, execution: UUID
) -> None:
    token: Any = ann["Authorization"].removeprefix("Bearer ")
    with socket_to(address(execution), subprotocols=["bearer", token]) as socket:
        take(socket, seen := LiveRun())

    assert socket.subprotocol == "bearer"
    assert seen.events == ["snapshot"]


def test_the_cookie_counts_from_pages_of_this_host_alone(
    web: WebServer, address: Address, execution: UUID
) -> None:
    cookie, url = cookie_of(person("ann", default_workspace())), address(execution)

    with socket_to(url, cookie, origin=web.address) as socket:
        take(socket, seen := LiveRun())

    assert seen.events == ["snapshot"]
    assert close_code(url, cookie, origin="https://evil.example") == 4403
    assert close_code(url, cookie, origin=web.address.replace("http:", "https:")) == 4403
    assert close_code(url, cookie) == 4403
    odd = cookie | {"Authorization": "Basic eDp5"}
    assert close_code(url, odd, origin="https://evil.example") == 4401


def test_a_refusal_is_a_close_code(
    address: Address, stranger: Headers, ann: Headers, execution: UUID
) -> None:
    assert close_code(address(execution)) == 4401
    assert close_code(address(execution), stranger) == 4404
    assert close_code(f"{address(execution)}?since=3", ann) == 4422


@pytest.mark.parametrize("path", ["/", "/v1/Run", "/admin/", "/v1/WorkflowExecution/x/subscribe"])
def test_nothing_else_has_a_socket(web: WebServer, ann: Headers, path: str) -> None:
    with pytest.raises(InvalidStatus) as refused, socket_to(web.address + path, ann):
        pass

    assert refused.value.response.status_code == 404


def test_a_client_that_talks_is_cut_short(address: Address, ann: Headers, execution: UUID) -> None:
    for text, code in (("x" * 2_000, 1009), ("x" * 200_000, 1009)):
        with socket_to(address(execution), ann) as socket:
            socket.send(text)
            with pytest.raises(ConnectionClosed) as closed:
                list(iter(socket.recv, None))
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == code


def test_a_word_now_and_then_does_no_harm(address: Address, ann: Headers, execution: UUID) -> None:
    a, seen = run_at(execution, "a.main"), LiveRun()
    with socket_to(address(execution), ann) as socket:
        take(socket, seen)
        socket.send("ping")
        socket.send(b"ping")
        do(moving.TAKE, a.pk)
        take(socket, seen)

    assert seen.states()[str(a.pk)] == "RUNNING"
