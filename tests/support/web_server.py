"""A web process that tests stop and restart at the same address, as in a deployment."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx
from django.db import connection

from tests.support.fleet import database_url
from tests.support.nursery import Begin, Process, from_project
from tests.support.stack import clean_environment
from tests.support.waiting import wait_until
from tests.support.web import SHARED
from valkyr_project.embedded.child import free_port
from valkyr_project.processes.commands import KEEP_ALIVE


class WebServer:
    """uvicorn with the flags of `make up`, on the tests' own database."""

    def __init__(
        self, log: Path, extra: Mapping[str, str] | None = None, begin: Begin = from_project
    ) -> None:
        self.log, self._begin = log, begin
        self.port = free_port()
        self.name = f"web-{self.port}"  # distinguishes its sessions from another server's
        self.address = f"http://127.0.0.1:{self.port}"
        shared = {name: os.environ[name] for name in SHARED if name in os.environ}
        self._environment = clean_environment() | shared | {
            "DATABASE_URL": database_url(),
            "VALKYR_PUBLIC_URL": self.address,
            "VALKYR_PROCESS": self.name,
            "VALKYR_POOL": "threads",
            **(extra or {}),
        }  # fmt: skip
        self._process: Process | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def started(self) -> bool:
        """Return whether the process was ever started."""
        return self._process is not None

    def alive(self) -> bool:
        """Return whether the process runs."""
        return self._process is not None and self._process.poll() is None

    def sessions(self) -> int:
        """Return how many sessions the process has on the tests' database."""
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity "
                "WHERE application_name = %s AND datname = current_database()",
                [f"valkyr-{self.name}"],
            )
            row = cursor.fetchone()
        return int(row[0]) if row else 0

    def start(self) -> None:
        """Start the process, and return when it answers."""
        self.launch()
        wait_until(self._answers, 60, "the web process's first answer")

    def launch(self) -> None:
        """Start the process. Does not wait."""
        command = [
            *(
                sys.executable,
                "-m",
                "valkyr_project.http.server",
                "valkyr_project.asgi:application",
            ),
            *("--host", "127.0.0.1", "--port", str(self.port), "--lifespan", "off"),
            *("--log-level", "warning", "--no-proxy-headers", "--timeout-graceful-shutdown", "1"),
            *("--ws-max-size", "65536", "--timeout-keep-alive", str(KEEP_ALIVE)),
        ]
        with self.log.open("ab") as out:
            self._process = self._begin(command, environment=self._environment, output=out.fileno())

    def stop(self) -> None:
        """Stop the process, and return when it has ended."""
        assert self._process is not None
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def kill(self) -> None:
        """Kill the process without notice."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def _answers(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, f"the web process ended:\n{self.log.read_text()}"
        try:
            return httpx.get(f"{self.address}/actuator/health/live", timeout=120).is_success
        except httpx.TransportError:
            return False


@contextmanager
def web_server(log: Path, extra: Mapping[str, str] | None = None) -> Iterator[WebServer]:
    """Run a web process that ends with the block."""
    server = WebServer(log, extra)
    try:
        server.start()
        yield server
    finally:
        server.kill()
        # The server's side of its sessions ends a moment later; until then the database is in use.
        wait_until(lambda: not server.sessions(), 30, "the end of its sessions")
