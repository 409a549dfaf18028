"""Connections of HTTP steps, which go only to addresses that were checked.

For a new connection, a name is resolved once, each address is checked, and the socket is opened to
an address that passed. The name itself stays in the Host header and in TLS. Every read and write
times out at the request's deadline, however slowly the server sends.
"""

import os
import re
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from contextvars import ContextVar
from functools import lru_cache
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, Self

import httpcore
import httpx

from runners.public.modules import StepError, address_rules, among, judge, restricted
from valkyr_plugins.connectors.network.addresses import ALLOWED_NETWORKS, may_connect

# A pool of open connections: one request at a time uses a connection, which returns to the pool
# when the response was read.
#
# httpcore's own pool checks each of its connections several times per request, partly in quadratic
# time. It also closes idle connections as soon as more connections are open than may be idle. With
# 256 concurrent calls, this is most of a call's cost, and few connections are reused. Here, a
# request checks the idle connections once. The number of threads limits the connections in use.


Connection = httpcore.HTTPConnection
# Scheme, host, port and the address ranges of egress rules: only steps with the same ranges share a
# connection. To compare these tuples is cheaper than to compare httpcore's Origin.
Place = tuple[bytes, bytes, int, tuple[str, ...]]


class Connections:
    """A thread-safe pool of HTTP/1.1 connections; `make` opens a new one to an origin."""

    def __init__(self, make: Callable[[httpcore.Origin], Connection], most_idle: int) -> None:
        self._make = make
        self._most_idle = most_idle
        self._lock = threading.Lock()
        self._idle: list[tuple[Place, Connection]] = []  # ordered by last use

    def handle_request(self, request: httpcore.Request) -> httpcore.Response:
        """Send a request; its connection returns to the pool once the response is closed."""
        if request.url.scheme not in (b"http", b"https"):
            raise httpcore.UnsupportedProtocol(
                f"expected http or https, found {request.url.scheme.decode('ascii', 'replace')!r}"
            )
        origin = request.url.origin
        ranges = address_rules(origin.host.decode("ascii"), origin.port)
        place = (origin.scheme, origin.host, origin.port, ranges)
        connection = self._taken(place) or self._make(origin)
        try:
            response = connection.handle_request(request)
        except BaseException:
            connection.close()
            raise
        body = _Body(response.stream, lambda: self._give_back(place, connection))
        return httpcore.Response(
            response.status, headers=response.headers, content=body, extensions=response.extensions
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close idle connections."""
        with self._lock:
            idle, self._idle = self._idle, []
        for _, connection in idle:
            connection.close()

    def _taken(self, place: Place) -> Connection | None:
        """Remove and return the most recently used open connection to an origin, or return None."""
        while (connection := self._newest(place)) is not None:
            # Also true if the server has closed the connection meanwhile.
            if not connection.has_expired():
                return connection
            connection.close()
        return None

    def _newest(self, place: Place) -> Connection | None:
        with self._lock:
            for index in range(len(self._idle) - 1, -1, -1):
                if self._idle[index][0] == place:
                    return self._idle.pop(index)[1]
        return None

    def _give_back(self, place: Place, connection: Connection) -> None:
        if not connection.is_idle():
            connection.close()
            return
        with self._lock:
            self._idle.append((place, connection))
            old = self._left_too_long()
        for too_old in old:
            too_old.close()

    def _left_too_long(self) -> list[Connection]:
        """Remove and return the longest-idle connections that are above the limit or have expired.

        The caller holds the lock.
        """
        old: list[Connection] = []
        while len(self._idle) > self._most_idle or self._idle[0][1].has_expired():
            old.append(self._idle.pop(0)[1])
            if not self._idle:
                break
        return old


class _Body:
    """A response's body, whose first `close` also returns its connection to the pool."""

    def __init__(self, stream: object, done: Callable[[], None]) -> None:
        self._stream = stream
        self._done: Callable[[], None] | None = done

    def __iter__(self) -> Iterator[bytes]:
        try:
            yield from self._stream  # type: ignore[misc]
        except BaseException:
            with suppress(Exception):
                self.close()
            raise

    def close(self) -> None:
        done, self._done = self._done, None
        if done is None:
            return
        try:
            self._stream.close()  # type: ignore[attr-defined]
        finally:
            done()


CONNECT_SECONDS = 10.0
# A little more than the number of an io worker's threads, so that steps that call the same host
# repeatedly find open connections.
MAX_IDLE_CONNECTIONS = 300
IDLE_SECONDS = 15.0
WRITE_BYTES = 65_536
USUAL_PORTS = {"http": 80, "https": 443}
PORT = re.compile(r":\d*$")

# Many threads may request the client at once, and it is slow to load the certificates.
_making = threading.Lock()
# The time, in time.monotonic(), at which the request of this thread must end.
request_deadline: ContextVar[float] = ContextVar("request_deadline")


def client() -> httpx.Client:
    """Return this process's client, which ignores redirects, cookies and proxies."""
    with _making:
        return _client(os.getpid())


@lru_cache(maxsize=1)
def _client(pid: int) -> httpx.Client:
    # One client per process, because a process must not use connections that its parent opened.
    return httpx.Client(
        transport=GuardedTransport(),
        follow_redirects=False,
        trust_env=False,
        # Workflows must not share cookies.
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
    )


class GuardedTransport(httpx.HTTPTransport):
    """httpx's transport over connections that go only to permitted addresses.

    Each request is checked against the workspace's egress rules and the boundaries of the step's
    credentials, on open connections too.
    """

    def __init__(self) -> None:
        # Uses SSL_CERT_FILE and SSL_CERT_DIR, which an administrator may set.
        context = httpx.create_ssl_context(trust_env=True)
        super().__init__(verify=context, trust_env=False)
        backend = GuardedBackend()

        def connection(origin: httpcore.Origin) -> httpcore.HTTPConnection:
            return httpcore.HTTPConnection(
                origin, context, keepalive_expiry=IDLE_SECONDS, network_backend=backend
            )

        # httpx has no argument for the network backend, so replace the pool that it created.
        self._pool = Connections(connection, MAX_IDLE_CONNECTIONS)  # type: ignore[assignment]

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request. Raises EgressRefused or HostRefused for a forbidden host."""
        if restricted():
            _judge(request)
        return super().handle_request(request)


def _judge(request: httpx.Request) -> None:
    url = request.url
    port = url.port or USUAL_PORTS.get(url.scheme)
    judge(url.raw_host.decode("ascii"), port)
    named = request.headers.get("host", "")
    if named.encode() != url.netloc:
        # A server with several sites selects the site by this header, so check the host in it.
        judge(PORT.sub("", named), port)


class GuardedBackend(httpcore.NetworkBackend):
    """Resolves a name, checks the addresses and connects to one of them, in that order."""

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
        """Connect to the first permitted address that answers.

        Raises StepError, ConnectError or ConnectTimeout.
        """
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
    """Return the addresses of `host` that steps may connect to.

    Raises StepError if there is none, and ConnectError if the name cannot be resolved.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise httpcore.ConnectError(f"{host} could not be resolved: {error}") from error
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    permitted = [address for address in addresses if may_connect(address)]
    if addresses and not permitted:
        raise StepError(
            f"{host} is at {', '.join(addresses[:4])}, a private or special address, which HTTP "
            "steps cannot reach: use a public address, or ask an administrator to add its range "
            f"to {ALLOWED_NETWORKS}"
        )
    return among(host, port, permitted)


class DeadlineStream(httpcore.NetworkStream):
    """A connection whose reads, writes and TLS handshake time out at the request's deadline."""

    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return up to `max_bytes`. Raises ReadTimeout at the deadline."""
        return self._stream.read(max_bytes, _left(httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send all data. Raises WriteTimeout at the deadline."""
        for start in range(0, len(buffer), WRITE_BYTES):
            piece = buffer[start : start + WRITE_BYTES]
            self._stream.write(piece, _left(httpcore.WriteTimeout))

    def close(self) -> None:
        """Close the connection."""
        self._stream.close()

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        """Start TLS and return the new stream; the certificate must match `server_hostname`."""
        seconds = min(CONNECT_SECONDS, _left(httpcore.ConnectTimeout))
        return DeadlineStream(self._stream.start_tls(ssl_context, server_hostname, seconds))

    def get_extra_info(self, info: str) -> Any:
        """Return a property of the connection for httpcore, such as whether it is readable."""
        return self._stream.get_extra_info(info)


def _left(expired: type[httpcore.TimeoutException]) -> float:
    seconds = request_deadline.get() - time.monotonic()
    if seconds <= 0:
        raise expired("the request exceeded its time limit")
    return seconds
