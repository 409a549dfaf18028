"""A credential's boundary: the hosts, modules and workflows that may receive it.

    boundary.allows_host("api.example.com", 443)   checked by the code that opens a connection
    boundary.allows_module("http.request")
    boundary.allows_workflow(workflow_id)

Hosts are matched as written in a URL; names are not resolved. `*` means any.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Any, TypedDict
from uuid import UUID

import idna

from executions.definition.catalog import CREDENTIAL_ALONE, EVERYTHING
from executions.definition.graph.problem import DefinitionProblem

ANY = "*"


@dataclass(frozen=True, slots=True)
class Boundary:
    """The permitted receivers of a credential; an empty list of hosts permits no host."""

    hosts: tuple[str, ...]
    modules: tuple[str, ...] = (ANY,)
    workflows: tuple[str, ...] = (ANY,)
    remote: bool = False

    @property
    def any_host(self) -> bool:
        """Return whether the credential may be sent to any host."""
        return ANY in self.hosts

    def allows_host(self, host: str, port: int | None) -> bool:
        """Return whether the credential may be sent to a host's port; a port of None is unknown."""
        return self.any_host or any(_pattern(text).matches(host, port) for text in self.hosts)

    def allows_module(self, module: str) -> bool:
        """Return whether steps of this type may use the credential."""
        return any(_fits(pattern, module) for pattern in self.modules)

    def names_module(self, module: str) -> bool:
        """Return whether the boundary names the module type itself, not only with a pattern."""
        return module in self.modules

    def allows_workflow(self, workflow_id: UUID) -> bool:
        """Return whether steps of this workflow may use the credential."""
        return ANY in self.workflows or str(workflow_id) in self.workflows


@dataclass(frozen=True, slots=True)
class HostPattern:
    """A host name, its subdomains (`below`), or a range of addresses; no `port` means any port."""

    name: str = ""
    below: bool = False
    network: IPv4Network | IPv6Network | None = None
    port: int | None = None

    def matches(self, host: str, port: int | None) -> bool:
        """Return whether the pattern includes a URL's host and port; an unknown port matches."""
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
    """Return the parsed pattern. Raises ValueError, whose message states the problem.

    Examples are `api.example.com`, `*.example.com`, `10.0.0.0/8` and `2001:db8::1`. Each can end
    with a port; an IPv6 address is then in brackets: `api.example.com:8443`, `[2001:db8::1]:443`.
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
    """Return a host in normal form: lower-case ASCII without brackets or a trailing dot.

    Raises ValueError for an invalid host.
    """
    bare = host.strip("[]").partition("%")[0].rstrip(".").lower()
    try:
        return str(ip_address(bare))
    except ValueError:
        pass
    try:
        name = bare if bare.isascii() else idna.encode(bare, uts46=True).decode()
    except idna.IDNAError as error:
        raise ValueError(f"{host[:100]!r} is not a host name: {error}") from None
    labels = name.split(".")
    if not all(0 < len(label) <= 63 and _is_label(label) for label in labels) or len(name) > 253:
        raise ValueError(
            f"{host[:100]!r} is not a host; write a name such as api.example.com, *.example.com, "
            "an IP address, or * for any host"
        )
    return name


def module_pattern(text: str) -> str:
    """Return a module's type, a family such as `stripe.*`, or `*` unchanged. Raises ValueError."""
    if text == ANY or all(_is_word(word) for word in text.removesuffix(".*").split(".")):
        return text
    raise ValueError(
        f"{text[:100]!r} is not a module; write a type such as http.request, a family such as "
        "http.*, or * for any module"
    )


def listed(patterns: Iterable[str]) -> str:
    """Return the first five patterns as text for a message; "none" if there are none."""
    names = list(patterns)
    return ", ".join(names[:5]) + (", …" if len(names) > 5 else "") or "none"


@lru_cache(maxsize=1024)
def _pattern(text: str) -> HostPattern:
    try:
        return host_pattern(text)
    except ValueError:
        return HostPattern(name="")  # Valkyr did not store this value: allow nothing


def _fits(pattern: str, module: str) -> bool:
    if pattern in (ANY, module):
        return True
    return pattern.endswith(".*") and module.startswith(pattern[:-1])


def _split(text: str) -> tuple[str, int | None]:
    """Return the host and the port (None if there is none). Raises ValueError."""
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
            f"{text[:100]!r} has no port from 1 to 65535; write a host without https:// and "
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


# Validate the lists of a boundary. No I/O.


MOST = 100
LISTS = ("hosts", "modules", "workflows")
NO_HOSTS = (
    'Name the hosts to which this credential may be sent, such as ["api.example.com"] or '
    '["*.example.com"]; ["*"] is any host.'
)


class CredentialLimits(TypedDict, total=False):
    """New limits; the docstrings of `create` and `update` say what happens to omitted limits."""

    hosts: Sequence[str] | None
    modules: Sequence[str] | None
    workflows: Sequence[str] | None
    remote: bool


def problems_of(given: Mapping[str, Any]) -> Iterator[DefinitionProblem]:
    """Yield every problem of the boundary's lists in `given`."""
    for name in LISTS:
        if given.get(name) is not None:
            yield from _of_list(name, given[name])


def stored(given: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return valid lists for storage: normalised and without duplicates; `*` replaces the rest."""
    return {name: _plain(name, given[name]) for name in LISTS if given.get(name) is not None}


def _of_list(name: str, given: Any) -> Iterator[DefinitionProblem]:
    if not isinstance(given, list | tuple) or not all(isinstance(one, str) for one in given):
        yield DefinitionProblem(
            name, "not_a_list", f"Expected a list of texts; the entry {ANY!r} means any."
        )
        return
    if name == "hosts" and not given:
        yield DefinitionProblem(name, "required", NO_HOSTS)
        return
    if not 1 <= len(given) <= MOST:
        message = f'Expected 1 to {MOST} entries; found {len(given)}. ["*"] allows any.'
        yield DefinitionProblem(name, "count", message)
        return
    for index, text in enumerate(given):
        try:
            _CHECKS[name](text.strip())
        except ValueError as error:
            yield DefinitionProblem(f"{name}[{index}]", "bad_entry", str(error))


def _plain(name: str, given: Any) -> list[str]:
    texts = [text.strip() for text in given]
    if ANY in texts:
        return [ANY]
    if name == "hosts":
        texts = [text.lower() for text in texts]
    elif name == "workflows":
        texts = [str(UUID(text)) for text in texts]
    return sorted(set(texts))


def _host(text: str) -> None:
    if text != ANY:
        host_pattern(text)


def _workflow(text: str) -> None:
    if text == ANY:
        return
    try:
        UUID(text)
    except ValueError:
        raise ValueError(
            f"{text[:100]!r} is not the id of a workflow; write its id, or * for any workflow"
        ) from None


_CHECKS: Mapping[str, Callable[[str], Any]] = {
    "hosts": _host,
    "modules": module_pattern,
    "workflows": _workflow,
}


# Decide whether a step may use a credential at all, by its module, its workflow and where it runs.
# No I/O.
#
# Each connection checks where the values go (`runners.modules.credential_hosts`), but only in
# modules whose connections are checked. Other modules get only credentials whose boundaries name
# them or allow any host.


@dataclass(frozen=True, slots=True)
class RequestedUse:
    """A step that uses credentials.

    `judges` is its module's `ModuleSpec.judges_hosts`. `in_texts` are the credentials that its
    inputs name as `{{ secrets.x }}`, and `kept` are those in inputs that stay on this machine
    (`ModuleSpec.keeps`). `remote` says that a remote runner receives the values.
    """

    module: str
    judges: str
    workflow_id: UUID
    in_texts: Collection[str] = ()
    kept: Collection[str] = ()
    remote: bool = False


def refusal(use: RequestedUse, boundaries: Mapping[str, Boundary]) -> str | None:
    """Return the reason why the step cannot use one of the credentials; None if it can use all."""
    found = (refused(use, name, boundaries[name]) for name in sorted(boundaries))
    return next((why for why in found if why is not None), None)


def refused(use: RequestedUse, name: str, boundary: Boundary) -> str | None:
    """Return the reason why the step cannot use the credential of that name; None if it can."""
    if not boundary.allows_workflow(use.workflow_id):
        return f'this workflow may not use the credential "{name}"'
    if not boundary.allows_module(use.module):
        modules = listed(boundary.modules)
        return (
            f'steps of type {use.module} may not use the credential "{name}"; it allows only '
            f"{modules}"
        )
    if use.remote:
        if not (boundary.remote or boundary.any_host):
            return f'remote runners may not use the credential "{name}"'
    elif not _hosts_hold(use, name, boundary):
        return (
            f'the credential "{name}" is limited to certain hosts, and the engine cannot '
            f"check where {use.module} sends it"
        )
    return None


def _hosts_hold(use: RequestedUse, name: str, boundary: Boundary) -> bool:
    """Return whether the step enforces the boundary's hosts, or does not have to."""
    alone = use.judges == CREDENTIAL_ALONE and name not in use.in_texts
    enforced = (use.judges == EVERYTHING and name not in use.kept) or alone
    return enforced or boundary.any_host or boundary.names_module(use.module)
