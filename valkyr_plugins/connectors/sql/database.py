"""The database of a step's credential, and the addresses at which steps may reach it.

The author of a credential may be a tenant. So steps can connect only to addresses that HTTP steps
may reach. To allow another address, an administrator adds its host to VALKYR_SQL_ALLOWED_HOSTS.
Steps reach the server of the engine's own tables only if this setting names the host, port and
database.
"""

import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from executions.public.configuration import own_addresses
from runners.public.modules import ErrorType, StepError
from valkyr_plugins.connectors.conf import settings
from valkyr_plugins.connectors.network.addresses import ALLOWED_NETWORKS, may_connect, same_machine

ALLOWED_HOSTS = "VALKYR_SQL_ALLOWED_HOSTS"
FORM = "postgresql://user:password@host:5432/database"
SCHEMES = frozenset({"postgres", "postgresql", "postgresql+psycopg"})
# libpq's other options can name files, sockets and servers, which are not checked here.
OPTIONS = frozenset({"sslmode", "sslrootcert", "channel_binding", "target_session_attrs"})
PORT = 5432
LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Database:
    """The parsed URL of a credential; `ranges` are the egress rules' address ranges, () if none."""

    host: str
    port: int
    name: str
    user: str
    password: str
    options: tuple[tuple[str, str], ...] = ()
    # Address ranges of egress rules: steps with different ranges share no connection.
    ranges: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """Return the database's name for display, without user and password."""
        return f"{self.host}:{self.port}/{self.name}"

    def __repr__(self) -> str:
        return f"Database({self.label})"


def database_of(credential: Mapping[str, str] | None) -> Database:
    """Return a credential's database. Raises StepError if the credential is missing or invalid."""
    if credential is None or "url" not in credential:
        raise StepError(f"a SQL step needs a credential of type database: {FORM}")
    # The URL contains a password, so no message may quote it.
    misunderstood = StepError(f"the credential's url names no database: expected {FORM}")
    try:
        url = urlsplit(credential["url"].strip())
        port = url.port
        given = parse_qs(url.query, keep_blank_values=True, strict_parsing=bool(url.query))
    except ValueError:
        raise misunderstood from None
    if url.scheme not in SCHEMES:
        raise StepError(
            f"the credential's url has the scheme {url.scheme[:40]!r}: SQL steps support only "
            f"PostgreSQL; expected {FORM}"
        )
    name = unquote(url.path.removeprefix("/"))
    if not (url.hostname and url.username and name) or "/" in name or "," in url.hostname:
        raise misunderstood
    return Database(
        host=unquote(url.hostname),
        port=port or PORT,
        name=name,
        user=unquote(url.username),
        password=unquote(url.password or ""),
        options=_options(given),
    )


CIRCUIT_TARGET = "`sql:` with the database's host, port and name"


def circuit_of(credential: Mapping[str, str] | None) -> str | None:
    """Return the circuit target of a credential's database; None if the credential is invalid."""
    try:
        return f"sql:{database_of(credential).label}"
    except StepError:
        return None  # the step itself reports the error


def _options(given: Mapping[str, list[str]]) -> tuple[tuple[str, str], ...]:
    unknown = sorted(set(given) - OPTIONS)
    if unknown:
        raise StepError(
            f"the credential's url sets {', '.join(unknown)[:200]}, which SQL steps do not "
            f"support; allowed: {', '.join(sorted(OPTIONS))}"
        )
    # With a path, the worker would read one of its own files.
    if given.get("sslrootcert", ["system"]) != ["system"]:
        raise StepError("the credential's url may set sslrootcert only to 'system'")
    return tuple(sorted((key, values[-1]) for key, values in given.items()))


def reachable(database: Database) -> list[str]:
    """Return the addresses to which steps may connect. Raises StepError if there is none."""
    addresses = _resolved(database.host, database.port)
    entries = set(_entries())
    full = f"{database.host}:{database.port}/{database.name}".lower()
    if full in entries:
        return addresses
    if _is_own(addresses, database.port):
        raise StepError(
            f"{database.label} is on the server of the engine's own tables, which SQL steps "
            f"cannot reach unless an administrator adds {full!r} to {ALLOWED_HOSTS}"
        )
    if {full.partition("/")[0], database.host.lower()} & entries:
        return addresses
    permitted = [address for address in addresses if may_connect(address)]
    if not permitted:
        raise StepError(
            f"{database.host} is at {', '.join(addresses[:4])}, a private or special address, "
            "which SQL steps cannot reach: ask an administrator to add the host to "
            f"{ALLOWED_HOSTS} or its range to {ALLOWED_NETWORKS}"
        )
    return permitted


def _entries() -> Iterator[str]:
    """Yield the entries of the setting: hosts, `host:port` and `host:port/database`."""
    yield from (part.lower() for part in settings().sql_allowed_hosts)


def _resolved(host: str, port: int) -> list[str]:
    if host.startswith(("/", "@")):
        raise StepError(f"the credential's url names a socket on this machine: expected {FORM}")
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError as error:
        raise StepError(f"{host[:100]!r} is not a host name") from error
    except OSError as error:
        raise StepError(
            f"{host} could not be resolved: {error.strerror}", ErrorType.TRANSIENT
        ) from error
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def _is_own(addresses: list[str], port: int) -> bool:
    """Return whether one of the engine's own servers has the port and one of these addresses."""
    return any(
        own_port == port and same_machine(_quietly_resolved(own_host, own_port), addresses)
        for own_host, own_port in _own_servers()
    )


def _own_servers() -> Iterator[tuple[str, int]]:
    for address in own_addresses():
        url: Any = urlsplit(address)
        if url.scheme in SCHEMES:
            # A URL without a host refers to a socket of this machine.
            yield unquote(url.hostname or "") or LOOPBACK, url.port or PORT


def _quietly_resolved(host: str, port: int) -> list[str]:
    if host.startswith("/"):
        return [LOOPBACK]
    try:
        return _resolved(host, port)
    except StepError:
        return []
