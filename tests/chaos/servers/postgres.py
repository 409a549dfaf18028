"""PostgreSQL, stopped as its administrators stop it, and restarted at its address."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connections

from tests.support.waiting import wait_until
from valkyr_project.embedded import Postgres

FAST = signal.SIGINT  # sessions are ended, nothing is left to recover
IMMEDIATE = signal.SIGQUIT  # as after a power cut: recovery from the log at the next start


def stop(server: Postgres, how: signal.Signals) -> None:
    """Shut the server down in the given mode; return when it has ended."""
    os.kill(server.pid, how)
    wait_until(lambda: not server.alive(), 30, "the end of PostgreSQL")


def start(server: Postgres) -> None:
    """Start the server at its address; return when it answers this thread."""
    url = server.url
    server.launch()
    server.wait()
    assert server.url == url, "PostgreSQL's port was taken meanwhile"
    connections.close_all()


@contextmanager
def away(server: Postgres, how: signal.Signals) -> Iterator[None]:
    """Shut the server down for the block."""
    stop(server, how)
    try:
        yield
    finally:
        start(server)
