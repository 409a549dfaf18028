"""Connections of HTTP steps: the address that was checked is the one connected to.

A name is resolved once, each address is checked, and the socket is opened to one that passed;
the name itself stays in the Host header and in TLS. Every read and write ends at the step's
deadline, however slowly the other side drips.
"""

import os
import re
import socket
import threading
import time
from collections.abc import Iterable
from contextvars import ContextVar
from functools import lru_cache
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any

import httpcore
import httpx

from runners.public.modules import StepError, judge, restricted
from valkyr_plugins.connectors.network.addresses import ALLOWED_NETWORKS, may_connect
from valkyr_plugins.connectors.network.connections import Connections

CONNECT_SECONDS = 10.0
# As many as an io worker has threads, and a few more: steps that call one host again and again
# find their connections open.
MAX_IDLE_CONNECTIONS = 300
IDLE_SECONDS = 15.0
WRITE_BYTES = 65_536
USUAL_PORTS = {"http": 80, "https": 443}
PORT = re.compile(r":\d*$")

# Many threads may ask for the client at once, and reading the certificates takes a while.
_making = threading.Lock()
# When the request that this thread makes must be over, on time.monotonic().
request_deadline: ContextVar[float] = ContextVar("request_deadline")


def client() -> httpx.Client:
    """This process's client. It follows no redirects, keeps no cookies and ignores proxies."""
    with _making:
        return _client(os.getpid())


@lru_cache(maxsize=1)
def _client(pid: int) -> httpx.Client:
    # By process: connections that a parent opened must not be shared with its children.
    return httpx.Client(
        transport=GuardedTransport(),
        follow_redirects=False,
        trust_env=False,
        # One workflow's cookies are no business of the next one's.
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
    )


class GuardedTransport(httpx.HTTPTransport):
    """httpx's transport over connections that go only to permitted addresses.

    Each request is judged by the boundaries of the step's credentials, on open connections too.
    """

    def __init__(self) -> None:
        # SSL_CERT_FILE and SSL_CERT_DIR, which an administrator sets, are heeded.
        context = httpx.create_ssl_context(trust_env=True)
        super().__init__(verify=context, trust_env=False)
        backend = GuardedBackend()

        def connection(origin: httpcore.Origin) -> httpcore.HTTPConnection:
            return httpcore.HTTPConnection(
                origin, context, keepalive_expiry=IDLE_SECONDS, network_backend=backend
            )

        # httpx has no argument for a network backend, so the pool it made is replaced.
        self._pool = Connections(connection, MAX_IDLE_CONNECTIONS)  # type: ignore[assignment]

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request; HostRefused where a credential of the step may not go there."""
        if restricted():
            _judge(request)
        return super().handle_request(request)


def _judge(request: httpx.Request) -> None:
    url = request.url
    port = url.port or USUAL_PORTS.get(url.scheme)
    judge(url.raw_host.decode("ascii"), port)
    named = request.headers.get("host", "")
    if named.encode() != url.netloc:
        # A server of many sites hands the request to the one that this header names.
        judge(PORT.sub("", named), port)


class GuardedBackend(httpcore.NetworkBackend):
    """Resolves, checks and connects, in that order and each once."""

    def __init__(self) -> None:
        self._sockets = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect to the first permitted address of `host` that answers."""
        failure: Exception | None = None
        for address in permitted_addresses(host, port):
            seconds = min(CONNECT_SECONDS, _left(httpcore.ConnectTimeout))
            try:
                stream = self._sockets.connect_tcp(address, port, seconds)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
            else:
                return DeadlineStream(stream)
        raise failure or httpcore.ConnectError(f"{host} has no address")


def permitted_addresses(host: str, port: int) -> list[str]:
    """The addresses of `host` that may be connected to; StepError when there are others only."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise httpcore.ConnectError(f"{host} could not be resolved: {error}") from error
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    permitted = [address for address in addresses if may_connect(address)]
    if addresses and not permitted:
        raise StepError(
            f"{host} is at {', '.join(addresses[:4])}, a private or special address, which HTTP "
            f"steps may not reach: use a public address, or let an administrator add its range "
            f"to {ALLOWED_NETWORKS}"
        )
    return permitted


class DeadlineStream(httpcore.NetworkStream):
    """A connection whose every operation ends at the deadline of the request that uses it."""

    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Up to `max_bytes`, or ReadTimeout at the deadline."""
        return self._stream.read(max_bytes, _left(httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send it all, or WriteTimeout at the deadline."""
        for start in range(0, len(buffer), WRITE_BYTES):
            piece = buffer[start : start + WRITE_BYTES]
            self._stream.write(piece, _left(httpcore.WriteTimeout))

    def close(self) -> None:
        """Close the connection."""
        self._stream.close()

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        """The same connection under TLS, which is checked against the name, not the address."""
        seconds = min(CONNECT_SECONDS, _left(httpcore.ConnectTimeout))
        return DeadlineStream(self._stream.start_tls(ssl_context, server_hostname, seconds))

    def get_extra_info(self, info: str) -> Any:
        """What httpcore asks of a connection, such as whether it is readable."""
        return self._stream.get_extra_info(info)


def _left(expired: type[httpcore.TimeoutException]) -> float:
    seconds = request_deadline.get() - time.monotonic()
    if seconds <= 0:
        raise expired("the request's time was over")
    return seconds
