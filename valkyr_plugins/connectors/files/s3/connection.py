"""A step's connection to S3: its own s3fs filesystem, which connects only to permitted addresses.

The connection ends with the step, so no key stays in memory and no connection crosses a fork. The
description of S3's protocol, which is slow to load, is kept per process.
"""

import os
import socket
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from aiobotocore.session import AioSession
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    HTTPClientError,
    ParamValidationError,
    ReadTimeoutError,
    SSLError,
)
from fsspec.asyn import sync
from s3fs import S3FileSystem

from runners.public.modules import (
    ErrorType,
    StepError,
    address_filter,
    address_rules,
    among,
    error_type_of,
    judge,
    status_error_type,
)
from valkyr_plugins.connectors.files.s3.endpoint import S3Endpoint
from valkyr_plugins.connectors.files.store import FileLocation
from valkyr_plugins.connectors.network.addresses import ALLOWED_NETWORKS, may_connect

CONNECT_SECONDS = 10
READ_SECONDS = 30  # maximum time without data
CLOSE_SECONDS = 5
ATTEMPTS = 2  # attempts of one request, in addition to the step's own retries


class Guard:
    """Creates a connection's sockets, but none to addresses that steps may not reach.

    `allows` applies the egress rules; a `trusted` endpoint may be in a private network.
    """

    def __init__(self, allows: Callable[[str], bool], *, trusted: bool) -> None:
        self.refused: list[str] = []
        self.outside: list[str] = []  # addresses that the egress rules forbid
        self._allows = allows
        self._trusted = trusted

    def __call__(self, address: Any) -> socket.socket:
        """Return a socket for a resolved address. Raises PermissionError if it is forbidden."""
        family, kind, protocol, _, target = address
        if not self._allows(str(target[0])):
            self.outside.append(str(target[0]))
            raise PermissionError(f"{target[0]} is outside of the egress rules")
        if not (self._trusted or may_connect(str(target[0]))):
            self.refused.append(str(target[0]))
            raise PermissionError(f"{target[0]} is a private or special address")
        made = socket.socket(family, kind, protocol)
        made.setblocking(False)
        return made


class S3Connection:
    """An s3fs filesystem and its guard (None for a trusted server without address rules)."""

    def __init__(self, endpoint: S3Endpoint, credential: Mapping[str, str] | None) -> None:
        judge(*endpoint.address)
        self.endpoint = endpoint
        self.guard = _guard(endpoint)
        self.filesystem = S3FileSystem(
            **_keys(credential),
            endpoint_url=endpoint.url,
            session=_session(os.getpid()),
            client_kwargs={"region_name": endpoint.region},
            config_kwargs=_config(endpoint, self.guard),
            skip_instance_cache=True,
            use_listings_cache=False,
        )
        self.filesystem.retries = 1  # botocore already retries

    def run(self, work: Callable[[], Any], seconds: float) -> Any:
        """Run a coroutine function on fsspec's thread; return its result. Raises TimeoutError."""
        return sync(self.filesystem.loop, work, timeout=seconds)

    def close(self) -> None:
        """Close the connection's sockets."""
        creator = getattr(self.filesystem, "_s3creator", None)
        if creator is not None:
            sync(self.filesystem.loop, creator.__aexit__, None, None, None, timeout=CLOSE_SECONDS)


def _guard(endpoint: S3Endpoint) -> Guard | None:
    if endpoint.trusted and not address_rules(*endpoint.address):
        return None
    return Guard(address_filter(*endpoint.address), trusted=endpoint.trusted)


@lru_cache(maxsize=1)
def _session(pid: int) -> AioSession:
    return AioSession()


def _keys(credential: Mapping[str, str] | None) -> dict[str, Any]:
    """Return s3fs's options for a credential; without a credential, access is anonymous.

    The machine's own role is never used. Raises StepError for a credential of another type.
    """
    if credential is None:
        return {"anon": True}
    try:
        keys = {"key": credential["access_key"], "secret": credential["secret_key"]}
    except KeyError:
        raise StepError(
            "the credential has the wrong type for S3: expected s3 or aws_sts (access_key, "
            "secret_key)"
        ) from None
    token = credential.get("session_token")
    return keys | {"token": token} if token else keys


def _config(endpoint: S3Endpoint, guard: Guard | None) -> dict[str, Any]:
    own = endpoint.url is not None
    return {
        "connect_timeout": CONNECT_SECONDS,
        "read_timeout": READ_SECONDS,
        "retries": {"mode": "standard", "total_max_attempts": ATTEMPTS},
        "proxies": {},  # with a proxy, the client would not connect to the checked address
        "ignore_configured_endpoint_urls": True,
        "connector_args": {"socket_factory": guard, "use_dns_cache": False},
        # A bucket in the host name needs wildcard DNS, which private servers rarely have.
        "s3": {"addressing_style": "path" if own else "auto"},
        # Not every server supports Amazon's newer checksums.
        "request_checksum_calculation": "when_required",
        "response_checksum_validation": "when_required",
    }


# Convert errors of S3: what was rejected, and whether to retry.


MISSING = 404
PAST_END = 416
CONFLICT = (409, 412)  # an object exists although none may exist


class ObjectMissing(StepError):
    """The object or bucket does not exist."""


class ObjectExists(StepError):
    """The object already exists."""


class PastEnd(StepError):
    """The range begins after the end of the object."""


def failure_of(error: Exception, place: FileLocation, connection: S3Connection) -> StepError:
    """Convert an error to a StepError, with the server's shortened text and without keys."""
    name, host = f"s3://{place.rest}", connection.endpoint.host
    if connection.guard is not None and connection.guard.refused:
        return StepError(
            f"{host} is at {', '.join(connection.guard.refused[:4])}, a private or special "
            "address, which file steps may not reach: use a public address, or let an "
            f"administrator set VALKYR_S3_ENDPOINT or add its range to {ALLOWED_NETWORKS}"
        )
    if connection.guard is not None and connection.guard.outside:
        return _outside(connection)
    answer = _answer(error)
    if answer is not None:
        return _refusal(answer, name, host)
    if isinstance(error, TimeoutError | ReadTimeoutError):
        return StepError(f"{name}: {host} did not answer in time", ErrorType.TIMEOUT)
    if isinstance(error, SSLError | ParamValidationError):
        return StepError(f"{name}: {host}: {type(error).__name__}: {str(error)[:300]}")
    passing = isinstance(error, HTTPClientError | BotoCoreError)
    return StepError(
        f"{name}: {host}: {type(error).__name__}: {str(error)[:300]}",
        ErrorType.TRANSIENT if passing else error_type_of(error),
    )


def _outside(connection: S3Connection) -> StepError:
    """Return the StepError for an address that the egress rules forbid."""
    assert connection.guard is not None
    try:
        among(*connection.endpoint.address, connection.guard.outside)
    except StepError as refusal:
        return refusal
    return StepError(f"{connection.endpoint.host} is outside of the workspace's egress rules")


def _answer(error: BaseException | None) -> ClientError | None:
    """Return the server's answer, which s3fs wraps in a Python exception; None if there is none."""
    while error is not None:
        if isinstance(error, ClientError):
            return error
        error = error.__cause__
    return None


def _refusal(answer: ClientError, name: str, host: str) -> StepError:
    said = answer.response.get("Error", {})
    code, message = str(said.get("Code", "")), str(said.get("Message", ""))[:300]
    status = int(answer.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    if status == MISSING:
        return ObjectMissing(f"there is no file {name} at {host} ({code})")
    if status == PAST_END:
        return PastEnd(f"{name} ends before the first requested byte")
    if status in CONFLICT and code in ("PreconditionFailed", "ConditionalRequestConflict", "412"):
        return ObjectExists(f"{name} already exists")
    return StepError(
        f"{name}: {host} answered {status} {code}: {message}",
        _class(status, code),
        details={"status": status, "code": code},
    )


def _class(status: int, code: str) -> ErrorType:
    """Return the error type for an HTTP status; RequestTimeout and SlowDown are transient."""
    if code in ("RequestTimeout", "SlowDown"):
        return ErrorType.TRANSIENT
    return status_error_type(status) if status >= 400 else ErrorType.PERMANENT
