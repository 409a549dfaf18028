"""A small HTTP server in worker and beat processes, which serves only Prometheus metrics."""

import logging
import os
import threading
from collections.abc import Callable, Iterable
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from celery.signals import beat_init, worker_init, worker_process_init
from prometheus_client import CollectorRegistry, make_wsgi_app

from executions import environment as env
from executions.observability import metric_values
from executions.observability.metrics_access import access
from valkyr_project.processes.production import is_local

log = logging.getLogger(__name__)
PATH = "/metrics"
SECONDS = 10.0  # for a request to arrive, and for its response to be read


class Server(ThreadingMixIn, WSGIServer):
    """An HTTP server with one thread per request; the threads do not keep the process alive."""

    daemon_threads = True
    request_queue_size = 16


class Handler(WSGIRequestHandler):
    """A request handler that logs nothing and disconnects clients that are silent for 10 s."""

    timeout = SECONDS

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Log nothing: scrapes are frequent."""


def begin() -> None:
    """Serve this process's metrics if the environment sets a port.

    If the port is unavailable, the process logs this and continues without serving metrics.
    """
    port = metric_values.port()
    if not port:
        return
    address = _address()
    access(local=is_local(address))  # a guessable token stops the start
    try:
        server = make_server(address, port, application, Server, Handler)
    except OSError as error:
        log.warning("metrics cannot be served at %s:%s (%s)", address, port, error)
        return
    # Close the socket in a pool's children, which would otherwise hold the port after their
    # parent's end.
    os.register_at_fork(after_in_child=server.socket.close)
    threading.Thread(target=server.serve_forever, name="metrics", daemon=True).start()


def application(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
    """Return the metrics, a 404 for another path, or a 401 if the client may not read metrics."""
    allowed = access(local=is_local(_address())).allows(
        environ.get("HTTP_AUTHORIZATION", ""), environ.get("REMOTE_ADDR", "")
    )
    if environ["PATH_INFO"] != PATH:
        return _refuse(start, "404 Not Found", "Metrics are at /metrics.")
    if not allowed:
        return _refuse(start, "401 Unauthorized", "Send VALKYR_METRICS_TOKEN as a bearer token.")
    told = CollectorRegistry()
    told.register(metric_values.OfThisCell())
    answer: Iterable[bytes] = make_wsgi_app(told)(environ, start)
    return answer


def _address() -> str:
    return env.text("VALKYR_METRICS_ADDRESS", "127.0.0.1")


def _refuse(start: Callable[..., Any], status: str, sentence: str) -> Iterable[bytes]:
    headers = [("Content-Type", "text/plain; charset=utf-8")]
    if status.startswith("401"):
        headers.append(("WWW-Authenticate", 'Bearer realm="metrics"'))
    start(status, headers)
    return [f"{sentence}\n".encode()]


@worker_init.connect(weak=False)
def serve_worker(**_: Any) -> None:
    """Start serving before the pool forks; each child closes the socket that it inherits."""
    if metric_values.port() and env.text("VALKYR_POOL", "prefork") == "prefork":
        metric_values.share_with_children()
    begin()


@beat_init.connect(weak=False)
def serve_beat(**_: Any) -> None:
    """Start serving when beat starts."""
    begin()


@worker_process_init.connect(weak=False)
def count_apart(**_: Any) -> None:
    """Let a child process of a pool store its metrics in separate files."""
    metric_values.count_as_child()
