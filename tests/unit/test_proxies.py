"""The caller's address: never the caller's own claim, always a configured proxy's."""

from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from executions.observability.proxies import Proxies, read_networks
from tests.support.coroutines import awaited

NAMED = ["127.0.0.1", "10.0.3.0/24", "fd00::/8"]


def through(
    peer: str | None, headers: list[tuple[str, str]], networks: list[str]
) -> tuple[Any, dict[str, str]]:
    """Return the caller's address and the headers that the application is given."""
    seen: dict[str, Any] = {}

    async def application(scope: Any, receive: Any, send: Any) -> None:
        seen.update(scope)

    scope = {
        "type": "http",
        "client": (peer, 4000) if peer else None,
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers],
    }
    awaited(Proxies(application, read_networks(networks)))(scope, None, None)
    headers_left = {name.decode(): value.decode("latin-1") for name, value in seen["headers"]}
    return seen["client"] and seen["client"][0], headers_left


@pytest.mark.parametrize("peer", ["203.0.113.9", "127.0.0.1", "::1"])
def test_by_default_nobody_is_believed(peer: str) -> None:
    forged = [
        ("x-forwarded-for", "1.2.3.4"),
        ("forwarded", "for=1.2.3.4"),
        ("x-real-ip", "1.2.3.4"),
    ]

    assert through(peer, forged, []) == (peer, {})


def test_a_stranger_is_not_believed_beside_a_named_proxy() -> None:
    forged = [("x-forwarded-for", "1.2.3.4"), ("x-forwarded-proto", "https"), ("accept", "*/*")]

    assert through("203.0.113.9", forged, NAMED) == ("203.0.113.9", {"accept": "*/*"})


@pytest.mark.parametrize(
    ("said", "caller"),
    [
        ("203.0.113.9", "203.0.113.9"),
        # What the caller itself sent is to the left of what the proxy saw.
        ("1.2.3.4, 203.0.113.9", "203.0.113.9"),
        ("127.0.0.1, 203.0.113.9, 10.0.3.7", "203.0.113.9"),
        ("203.0.113.9:51234", "203.0.113.9"),
        ("[2001:db8::7]:443", "2001:db8::7"),
        ("2001:db8::7", "2001:db8::7"),
        ("::ffff:203.0.113.9", "203.0.113.9"),
        ("10.0.3.8, 10.0.3.7", "10.0.3.8"),
        ("203.0.113.9, unknown", "10.0.3.5"),
        ("203.0.113.9, <script>, 10.0.3.7", "10.0.3.7"),
        ("", "10.0.3.5"),
        (", ".join(["9.9.9.9"] * 5000 + ["10.0.3.7"] * 30), "10.0.3.7"),
    ],
)
def test_a_named_proxy_says_who_called_it(said: str, caller: str) -> None:
    found, headers = through(
        "10.0.3.5", [("x-forwarded-for", said), ("x-forwarded-proto", "https")], NAMED
    )

    assert found == caller
    assert headers == {"x-forwarded-proto": "https"}


def test_several_headers_count_as_one_list() -> None:
    headers = [("x-forwarded-for", "1.2.3.4"), ("x-forwarded-for", "203.0.113.9")]

    assert through("::ffff:10.0.3.5", headers, NAMED)[0] == "203.0.113.9"


def test_a_caller_without_an_address_is_believed_nothing() -> None:
    assert through(None, [("x-forwarded-for", "1.2.3.4")], NAMED) == (None, {})


@pytest.mark.parametrize("word", ["*", "proxy.example.org", "10.0.0.0/99", "unix"])
def test_a_proxy_that_is_no_address_stops_the_start(word: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="VALKYR_TRUSTED_PROXIES"):
        read_networks([word])
