"""The proxies that an operator named, whose headers about the caller's address are trusted.

A forwarded address is in a header, which any client can send. The header is read from the right, as
long as the server that added an entry is one of these proxies. All headers about the address are
then removed from the request.
"""

from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any

from django.core.exceptions import ImproperlyConfigured

Scope = MutableMapping[str, Any]
App = Callable[..., Awaitable[None]]
Network = IPv4Network | IPv6Network

ADDRESS = b"x-forwarded-for"
# Always removed: another header for the same purpose would bypass the check.
OTHER_ADDRESSES = frozenset({b"forwarded", b"x-real-ip"})
ABOUT_THE_REQUEST = frozenset({b"x-forwarded-proto", b"x-forwarded-host", b"x-forwarded-port"})
# Maximum number of hops, which is more than any installation has.
MOST_HOPS = 20


def read_networks(
    words: Sequence[str], setting: str = "VALKYR_TRUSTED_PROXIES"
) -> tuple[Network, ...]:
    """Return the networks of a setting. Raises ImproperlyConfigured for an invalid network."""
    return tuple(_network(word, setting) for word in words)


class Proxies:
    """ASGI middleware that finds the caller's address behind the trusted proxies (`networks`)."""

    def __init__(self, app: App, networks: Sequence[Network]) -> None:
        """Wrap `app`; proxies in `networks` may name the caller's address."""
        self._app = app
        self._networks = tuple(networks)

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        """Pass the request on with the caller's own address, as far as it is known."""
        if scope["type"] in {"http", "websocket"}:
            self._settle(scope)
        await self._app(scope, receive, send)

    def _settle(self, scope: Scope) -> None:
        client = scope.get("client")
        peer = _address(client[0]) if client else None
        vouched = peer is not None and self._ours(peer)
        if vouched:
            said = b",".join(value for name, value in scope["headers"] if name == ADDRESS)
            scope["client"] = (self._caller(str(peer), said.decode("latin-1")), 0)
        unbelieved = OTHER_ADDRESSES | {ADDRESS}
        if self._networks and not vouched:
            unbelieved |= ABOUT_THE_REQUEST
        scope["headers"] = [pair for pair in scope["headers"] if pair[0] not in unbelieved]

    def _caller(self, peer: str, said: str) -> str:
        """Return the last untrusted address; if all are trusted, the outermost proxy's address."""
        found = peer
        hops = [hop.strip() for hop in said.split(",")][-MOST_HOPS:]
        for hop in reversed(hops):
            address = _address(hop)
            if address is None:
                return found
            found = str(address)
            if not self._ours(address):
                return found
        return found

    def _ours(self, address: Any) -> bool:
        return any(address in network for network in self._networks)


def _address(text: str) -> Any:
    """Return the address without a port; None if it is invalid.

    An IPv4 address in IPv6 notation is returned as IPv4.
    """
    host = text.strip()
    if host.startswith("["):
        host = host[1:].partition("]")[0]
    elif host.count(":") == 1:
        host = host.partition(":")[0]
    try:
        address = ip_address(host)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def _network(word: str, setting: str) -> Network:
    try:
        return ip_network(word, strict=False)
    except ValueError:
        raise ImproperlyConfigured(
            f"{setting} holds {word!r}; expected addresses or networks, e.g. 127.0.0.1,10.0.3.0/24."
        ) from None
