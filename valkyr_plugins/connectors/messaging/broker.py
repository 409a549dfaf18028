"""A step's message, and the broker that the step's credential names.

A message in the engine's own queues would be treated as work. So the database (or virtual host)
that the engine uses is rejected for every queue.
"""

import base64
import binascii
import json
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import unquote, urlsplit

from executions.public.configuration import own_addresses
from runners.public.modules import StepError, among, judge
from valkyr_plugins.connectors.network.addresses import ALLOWED_NETWORKS, may_connect, same_machine

FORMS = (
    "redis://:password@host:6379/1, rediss://… (TLS), amqp://user:password@host:5672/vhost or "
    "amqps://… (TLS)"
)
PORTS = {"redis": 6379, "rediss": 6379, "amqp": 5672, "amqps": 5671}


@dataclass(frozen=True, slots=True)
class Broker:
    """A broker; `space` is the Redis database or the AMQP virtual host."""

    family: Literal["redis", "amqp"]
    tls: bool
    host: str
    port: int
    user: str
    password: str
    space: str

    @property
    def name(self) -> str:
        """Return the broker's name for display, without user and password."""
        return f"{self.host}:{self.port}"

    def __repr__(self) -> str:
        return f"Broker({self.name}/{self.space})"


def broker_of(credential: Mapping[str, str] | None) -> Broker:
    """Return the credential's broker, if steps may use it. Raises StepError otherwise."""
    if credential is None:
        raise StepError(
            "this step has no credential: create one of type broker (url), and name it in the "
            "step's `credential`; steps cannot send to Valkyr's own broker"
        )
    broker = _parsed(credential.get("url", ""))
    if broker is None:
        # The URL contains a password, so no message may quote it.
        raise StepError(f"the credential's url is not a broker's address: expected {FORMS}")
    if _is_our_own(broker):
        raise StepError(
            f"{broker.name}/{broker.space} contains the engine's own messages: use another "
            "broker, or another database or virtual host of this one"
        )
    return broker


def permitted(broker: Broker) -> list[str]:
    """Return the broker's addresses that steps may connect to. Raises StepError if there is none.

    Raises OSError if the name cannot be resolved.
    """
    judge(broker.host, broker.port)
    found = _addresses(broker.host, broker.port)
    allowed = [address for address in found if may_connect(address)]
    if found and not allowed:
        raise StepError(
            f"{broker.host} is at {', '.join(found[:4])}, a private or special address, which "
            "credentials must not use: use a public address, or ask an administrator to add its "
            f"range to {ALLOWED_NETWORKS}"
        )
    return among(broker.host, broker.port, allowed)


def _parsed(text: str) -> Broker | None:
    try:
        url = urlsplit(text)
        port = url.port or PORTS.get(url.scheme, 0)
    except ValueError:
        return None
    if url.scheme not in PORTS or not url.hostname or not port or _names_several(text):
        return None
    is_redis = url.scheme.startswith("redis")
    space = unquote(url.path.removeprefix("/")) or ("0" if is_redis else "/")
    if is_redis and not (space.isascii() and space.isdigit()):
        return None
    return Broker(
        family="redis" if is_redis else "amqp",
        tls=url.scheme in ("rediss", "amqps"),
        host=url.hostname,
        port=port,
        user=unquote(url.username or ""),
        password=unquote(url.password or ""),
        space=str(int(space)) if is_redis else space,
    )


def _names_several(text: str) -> bool:
    """Return whether the text is a list of addresses; a step connects to one server only."""
    return any("://" in part for part in text.split(";")[1:])


def _is_our_own(broker: Broker) -> bool:
    for address in own_addresses():
        own = _parsed(address)
        if own is None or (own.port, own.space) != (broker.port, broker.space):
            continue
        if own.host == broker.host or _is_same_server(own, broker):
            return True
    return False


def _is_same_server(one: Broker, other: Broker) -> bool:
    try:
        return same_machine(*(_addresses(b.host, b.port) for b in (one, other)))
    except OSError:
        return False


def _addresses(host: str, port: int) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


# A message, in a form that does not depend on the broker.


MAX_BODY_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class BrokerMessage:
    """A message and its target (`queue`, `stream` or `exchange`); attempts share the `id`."""

    id: str
    body: bytes
    content_type: str
    is_text: bool
    headers: Mapping[str, str]
    queue: str = ""
    stream: str = ""
    exchange: str = ""
    routing_key: str = ""
    persistent: bool = True
    max_length: int | None = None


@dataclass(frozen=True, slots=True)
class BrokerReceipt:
    """The broker's answer: the list's new length, the stream entry's ID, or neither (AMQP)."""

    length: int | None = None
    entry_id: str | None = None


def body_of(*, json_value: Any, text: str | None, encoded: str | None) -> tuple[bytes, str]:
    """Return a body's bytes and media type. Raises StepError if it is invalid or too large."""
    if text is not None:
        body, kind = _utf8(text), "text/plain"
    elif encoded is not None:
        body, kind = _decoded(encoded), "application/octet-stream"
    else:
        said = json.dumps(json_value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        body, kind = _utf8(said), "application/json"
    if len(body) > MAX_BODY_BYTES:
        raise StepError(
            f"the message has {len(body):,} bytes; the maximum is {MAX_BODY_BYTES:,}: store "
            "large data with file.write, and send its path"
        )
    return body, kind


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise StepError(
            f"the message contains a lone surrogate at character {error.start:,}, which UTF-8 "
            "cannot encode"
        ) from error


def _decoded(encoded: str) -> bytes:
    try:
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError) as error:
        raise StepError(f"base64 is not valid Base64: {error}") from error
