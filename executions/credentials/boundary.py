"""Where a credential may go: the hosts, modules and workflows that it names. Pure.

    boundary.allows_host("api.example.com", 443)   judged by whoever opens a connection
    boundary.allows_module("http.request")
    boundary.allows_workflow(workflow_id)

Hosts are matched as an address writes them; nobody resolves a name here. `*` stands for any.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from uuid import UUID

import idna

ANY = "*"


@dataclass(frozen=True, slots=True)
class Boundary:
    """What a credential may be given to. An empty list of hosts allows none."""

    hosts: tuple[str, ...]
    modules: tuple[str, ...] = (ANY,)
    workflows: tuple[str, ...] = (ANY,)
    remote: bool = False

    @property
    def any_host(self) -> bool:
        """Whether it may go everywhere, which somebody chose."""
        return ANY in self.hosts

    def allows_host(self, host: str, port: int | None) -> bool:
        """Whether it may go to a host's port; None is a port that is not known yet."""
        return self.any_host or any(_pattern(text).matches(host, port) for text in self.hosts)

    def allows_module(self, module: str) -> bool:
        """Whether steps of this type may have it."""
        return any(_fits(pattern, module) for pattern in self.modules)

    def names_module(self, module: str) -> bool:
        """Whether it names the type itself, not by a `*`."""
        return module in self.modules

    def allows_workflow(self, workflow_id: UUID) -> bool:
        """Whether steps of this workflow may have it."""
        return ANY in self.workflows or str(workflow_id) in self.workflows


@dataclass(frozen=True, slots=True)
class HostPattern:
    """A name, the names below one (`below`), or a range of addresses; `port` None is any port."""

    name: str = ""
    below: bool = False
    network: IPv4Network | IPv6Network | None = None
    port: int | None = None

    def matches(self, host: str, port: int | None) -> bool:
        """Whether it covers a host as an address names it; an unknown port fits."""
        if self.port is not None and port is not None and port != self.port:
            return False
        try:
            plain = plain_host(host)
        except ValueError:
            return False
        if self.network is not None:
            return _is_in(plain, self.network)
        return plain.endswith(f".{self.name}") if self.below else plain == self.name


def host_pattern(text: str) -> HostPattern:
    """A pattern as people write it; ValueError says what is wrong with it.

    `api.example.com`, `*.example.com`, `10.0.0.0/8`, `2001:db8::1`; each may end with a port, an
    IPv6 address in brackets: `api.example.com:8443`, `[2001:db8::1]:443`.
    """
    host, port = _split(text.strip())
    if "/" in host:
        try:
            return HostPattern(network=ip_network(host, strict=False), port=port)
        except ValueError:
            raise ValueError(
                f"{text[:100]!r} is neither a host nor a range of addresses; write a host without "
                "https:// and path, such as api.example.com, or a range such as 10.0.0.0/8"
            ) from None
    below = host.startswith("*.")
    name = plain_host(host.removeprefix("*.") if below else host)
    if below and (_is_address(name) or "." not in name):
        raise ValueError(f"{text[:100]!r} covers too much; write at least *.example.com")
    if _is_address(name):
        return HostPattern(network=ip_network(name), port=port)
    return HostPattern(name=name, below=below, port=port)


def plain_host(host: str) -> str:
    """A host in the one form that is compared: lower case, ASCII, no dot at its end.

    Raises ValueError for what is no host.
    """
    bare = host.strip("[]").partition("%")[0].rstrip(".").lower()
    try:
        return str(ip_address(bare))
    except ValueError:
        pass
    try:
        name = bare if bare.isascii() else idna.encode(bare, uts46=True).decode()
    except idna.IDNAError as error:
        raise ValueError(f"{host[:100]!r} is no host name: {error}") from None
    labels = name.split(".")
    if not all(0 < len(label) <= 63 and _is_label(label) for label in labels) or len(name) > 253:
        raise ValueError(
            f"{host[:100]!r} is no host; write a name such as api.example.com, *.example.com, an "
            "IP address, or * for any host"
        )
    return name


def module_pattern(text: str) -> str:
    """A module's type, or the types that begin with the same words: `stripe.*`; else ValueError."""
    if text == ANY or all(_is_word(word) for word in text.removesuffix(".*").split(".")):
        return text
    raise ValueError(
        f"{text[:100]!r} is no module; write a type such as http.request, a family such as http.*, "
        "or * for any module"
    )


def listed(patterns: Iterable[str]) -> str:
    """Patterns for a message, the first few of them."""
    names = list(patterns)
    return ", ".join(names[:5]) + (", …" if len(names) > 5 else "") or "none"


@lru_cache(maxsize=1024)
def _pattern(text: str) -> HostPattern:
    try:
        return host_pattern(text)
    except ValueError:
        return HostPattern(name="")  # written by other means than ours: it allows nothing


def _fits(pattern: str, module: str) -> bool:
    if pattern in (ANY, module):
        return True
    return pattern.endswith(".*") and module.startswith(pattern[:-1])


def _split(text: str) -> tuple[str, int | None]:
    """Host and port; a bare IPv6 address has none."""
    if text.startswith("["):
        host, closed, rest = text[1:].partition("]")
        if not closed or (rest and not rest.startswith(":")):
            raise ValueError(
                f"{text[:100]!r}: write an IPv6 address and a port as [2001:db8::1]:443"
            )
        return host, _port(rest[1:], text) if rest else None
    host, colon, port = text.rpartition(":")
    if not colon or ":" in host:
        return text, None
    return host, _port(port, text)


def _port(digits: str, text: str) -> int:
    if not (digits.isascii() and digits.isdigit() and 0 < int(digits[:6]) < 65_536):
        raise ValueError(
            f"{text[:100]!r} names no port from 1 to 65535; write a host without https:// and "
            "path, such as api.example.com or api.example.com:8443"
        )
    return int(digits)


def _is_in(host: str, network: IPv4Network | IPv6Network) -> bool:
    try:
        address = ip_address(host)
    except ValueError:
        return False
    inner = getattr(address, "ipv4_mapped", None) or address
    return inner.version == network.version and inner in network


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _is_label(label: str) -> bool:
    return all(letter.isalnum() or letter in "-_" for letter in label)


def _is_word(word: str) -> bool:
    return bool(word) and word.isascii() and word.replace("_", "").replace("-", "").isalnum()
