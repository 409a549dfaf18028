"""Tests of the pool of connections: reuse, closing, and times."""

from collections.abc import Iterator

import httpcore
import pytest

from tests.support.counterparts.http import BadServer, bad_server
from valkyr_plugins.connectors.network.transport import Connections


@pytest.fixture
def server() -> Iterator[BadServer]:
    with bad_server() as server:
        yield server


def pool(most_idle: int = 10, seconds: float = 60) -> Connections:
    return Connections(
        lambda origin: httpcore.HTTPConnection(origin, keepalive_expiry=seconds), most_idle
    )


def ask(connections: Connections, url: str) -> httpcore.Response:
    return connections.handle_request(httpcore.Request("GET", url, headers={"Host": "a"}))


def done(response: httpcore.Response) -> None:
    response.read()
    response.close()


def test_a_connection_is_used_again_once_its_answer_is_closed(server: BadServer) -> None:
    connections = pool()

    first = ask(connections, f"{server.url}/good")
    done(ask(connections, f"{server.url}/good"))
    done(first)
    done(ask(connections, f"{server.url}/good"))

    assert server.connections == 2
    connections.close()


def test_a_connection_whose_answer_was_not_read_is_closed(server: BadServer) -> None:
    connections = pool()

    ask(connections, f"{server.url}/good").close()
    done(ask(connections, f"{server.url}/good"))

    assert server.connections == 2
    connections.close()


def test_no_more_idle_connections_are_kept_than_allowed(server: BadServer) -> None:
    connections = pool(most_idle=1)

    answers = [ask(connections, f"{server.url}/good") for _ in range(3)]
    for answer in answers:
        done(answer)
    again = [ask(connections, f"{server.url}/good") for _ in range(3)]
    for answer in again:
        done(answer)

    assert server.connections == 5
    connections.close()


def test_a_connection_that_idled_too_long_is_not_used_again(server: BadServer) -> None:
    connections = pool(seconds=-1)

    done(ask(connections, f"{server.url}/good"))
    done(ask(connections, f"{server.url}/good"))

    assert server.connections == 2
    connections.close()


def test_another_origin_gets_no_connection_of_the_first(server: BadServer) -> None:
    with bad_server() as other, pool() as connections:
        done(ask(connections, f"{server.url}/good"))
        done(ask(connections, f"{other.url}/good"))

        assert (server.connections, other.connections) == (1, 1)


def test_a_scheme_that_is_not_http_is_refused() -> None:
    with pytest.raises(httpcore.UnsupportedProtocol, match="'file'"):
        ask(pool(), "file:///etc/passwd")
