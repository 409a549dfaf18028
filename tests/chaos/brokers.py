"""The brokers, which faults stop, empty and restart at the same addresses."""

import os
import shutil
import signal
from pathlib import Path
from typing import Protocol

from tests.support.waiting import wait_until
from valkyr_project.embedded import Redis


class Broker(Protocol):
    """A broker's server, which a fault controls."""

    @property
    def url(self) -> str:
        """The address for Celery; constant for the broker's lifetime."""

    def stop(self) -> None:
        """Kill the broker with SIGKILL; return when it has ended."""

    def forget(self) -> None:
        """Delete every message and queue, while the broker is stopped."""

    def start(self) -> None:
        """Start the broker at its address, with its data; return when it answers."""


class RedisBroker:
    """The embedded Redis, with its append-only file."""

    def __init__(self, server: Redis, home: Path) -> None:
        self._server = server
        self._data = home / "redis" / "data"

    @property
    def url(self) -> str:
        return self._server.url

    def stop(self) -> None:
        os.kill(self._server.pid, signal.SIGKILL)
        wait_until(lambda: not self._server.alive(), 10, "the end of Redis")

    def forget(self) -> None:
        for kept in self._data.iterdir():
            shutil.rmtree(kept) if kept.is_dir() else kept.unlink()

    def start(self) -> None:
        url = self._server.url
        self._server.launch()
        self._server.wait()
        assert self._server.url == url, "Redis's port was taken meanwhile"
