"""With any bad server, a step ends in time, within its bounds, and with an error class."""

import socket
import time
import tracemalloc
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from runners.failures.classification import Failure, classify
from runners.modules import registry
from runners.modules.base import Result
from runners.segment.step_context import Context
from runners.states import ErrorType
from tests.support.counterparts.http import VICES, BadServer, bad_server
from tests.support.waiting import wait_until

MEBIBYTE = 1024 * 1024
SECONDS = 0.5
TRANSIENT, PERMANENT, TIMEOUT = ErrorType.TRANSIENT, ErrorType.PERMANENT, ErrorType.TIMEOUT
ENDS = {
    "silent": (TIMEOUT, "ReadTimeout"),
    "slow-headers": (TIMEOUT, "ReadTimeout"),
    "drip-body": (TIMEOUT, "ReadTimeout"),
    "endless": (PERMANENT, "more than 1000000 bytes"),
    "endless-error": (PERMANENT, "answered 422"),
    "endless-redirect": (TIMEOUT, "ReadTimeout"),
    "long-length": (TRANSIENT, "RemoteProtocolError"),
    "two-lengths": (TRANSIENT, "RemoteProtocolError"),
    "chunked-nonsense": (TRANSIENT, "RemoteProtocolError"),
    "chunked-endless": (TIMEOUT, "ReadTimeout"),  # a byte a chunk
    "header-flood": (TRANSIENT, "RemoteProtocolError"),
    "long-header": (TRANSIENT, "RemoteProtocolError"),
    "informing": (TIMEOUT, "ReadTimeout"),
    "no-http": (TRANSIENT, "RemoteProtocolError"),
    "cut": (TRANSIENT, "RemoteProtocolError"),
    "reset": (TRANSIENT, "ReadError"),
    "circle": (PERMANENT, "more than 5 redirects"),
    "away?to=http://169.254.169.254/latest/": (PERMANENT, "a private or special address"),
    "away?to=http://10.0.0.1/": (PERMANENT, "a private or special address"),
    "away?to=http://[::1]:1/": (PERMANENT, "a private or special address"),
    "away?to=file:///etc/passwd": (PERMANENT, "UnsupportedProtocol"),
    "away?to=http://[::": (TRANSIENT, "RemoteProtocolError"),
    "brotli": (PERMANENT, "only one of gzip, deflate is supported"),
    "gzip-bomb": (PERMANENT, "more than 1000000 bytes"),
    "gzip-cut": (TRANSIENT, "compressed body is incomplete"),
}
READ_WELL = {
    "short-length": ("four", "text"),
    "invalid-utf8": ('{"name": "\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}"}', "text"),
    "nul-json": ('{"name": "a\\u0000b"}', "text"),
    "surrogate-json": ('{"name": "\\ud800"}', "text"),
}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[BadServer]:
    monkeypatch.setenv("VALKYR_HTTP_ALLOWED_NETWORKS", "127.0.0.0/8")
    with bad_server() as server:
        yield server


@pytest.fixture
def outputs(step_context: Context) -> Callable[..., Any]:
    def ask(url: str, **config: Any) -> Any:
        result = registry.get("http.request").run({"url": url, **config}, step_context)
        assert isinstance(result, Result)
        return result.outputs

    return ask


@pytest.fixture
def failure(outputs: Callable[..., Any]) -> Callable[..., Failure]:
    def ask(url: str, **config: Any) -> Failure:
        with pytest.raises(Exception) as caught:  # noqa: PT011 - classed like every failure
            outputs(url, **config)
        return classify(caught.value)

    return ask


def test_every_vice_is_tried() -> None:
    assert VICES.keys() <= ENDS.keys() | READ_WELL.keys() | {"goodbye"}


@pytest.mark.parametrize("vice", ENDS)
def test_a_vice_ends_in_time_in_little_memory_and_with_its_class(
    server: BadServer, failure: Callable[..., Failure], vice: str
) -> None:
    error_type, said = ENDS[vice]
    limits = {"timeoutSeconds": SECONDS, "maxBytes": 1_000_000}
    if error_type is not TIMEOUT:
        limits["timeoutSeconds"] = 30
    tracemalloc.start()
    began = time.monotonic()

    found = failure(f"{server.url}/{vice}", **limits)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert said in found.message
    assert found.error_type is error_type
    assert time.monotonic() - began < 20
    assert peak < 16 * MEBIBYTE  # it contains the server's own bomb


@pytest.mark.parametrize("path", READ_WELL)
def test_an_odd_body_becomes_what_can_be_stored(
    server: BadServer, outputs: Callable[..., Any], path: str
) -> None:
    answer = outputs(f"{server.url}/{path}")

    assert (answer["body"], answer["bodyEncoding"]) == READ_WELL[path]


def test_a_server_that_speaks_no_tls_may_be_asked_again(
    server: BadServer, failure: Callable[..., Failure]
) -> None:
    found = failure(server.url.replace("http://", "https://"))

    assert found.error_type is TRANSIENT
    assert "ConnectError" in found.message


def test_a_server_that_does_not_answer_a_tls_handshake_ends_in_time(
    server: BadServer, failure: Callable[..., Failure]
) -> None:
    """A listener accepts connections and sends nothing."""
    with socket.create_server(("127.0.0.1", 0)) as mute:
        found = failure(f"https://127.0.0.1:{mute.getsockname()[1]}/", timeoutSeconds=SECONDS)

    assert found.error_type in {TRANSIENT, TIMEOUT}


def test_a_good_answer_follows_each_bad_one(
    server: BadServer, outputs: Callable[..., Any], failure: Callable[..., Failure]
) -> None:
    for vice in ("cut", "no-http", "two-lengths", "brotli", "gzip-bomb", "chunked-nonsense"):
        failure(f"{server.url}/{vice}", maxBytes=1_000)

        assert outputs(f"{server.url}/good")["body"] == {"good": True}


def test_calls_side_by_side_open_no_more_connections_than_there_are_callers(
    server: BadServer, make_context: Callable[..., Context]
) -> None:
    module = registry.get("http.request")

    with ThreadPoolExecutor(8) as pool:
        calls = [
            pool.submit(module.run, {"url": f"{server.url}/good"}, make_context())
            for _ in range(200)
        ]
        assert all(isinstance(call.result(), Result) for call in calls)

    assert len(server.requests) == 200
    assert server.connections <= 8


def test_a_connection_that_the_server_closed_meanwhile_is_not_used_again(
    server: BadServer, outputs: Callable[..., Any]
) -> None:
    for used in (1, 2, 3):
        assert outputs(f"{server.url}/goodbye")["status"] == 200
        wait_until(lambda: server.open_connections == 0, 10, "the server's closing")

        assert server.connections == used


def test_calls_after_one_another_share_a_connection(
    server: BadServer, outputs: Callable[..., Any]
) -> None:
    for _ in range(50):
        outputs(f"{server.url}/good")

    assert len(server.requests) == 50
    assert server.connections == 1
