"""Runs another project with Valkyr's apps: its database, web process and worker."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psycopg

from tests.support import nursery
from tests.support.stack import PROJECT, clean_environment
from tests.support.waiting import wait_until
from tests.support.web import SHARED
from valkyr_project.embedded.child import free_port

LONGEST = 180


@dataclass
class OwnProject:
    """A project in `tests/projects`, with its own database on the tests' server."""

    name: str
    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    database: str = ""
    address: str = ""

    def __post_init__(self) -> None:
        self.database = f"project_{self.name}_{os.getpid()}"
        shared = {name: os.environ[name] for name in SHARED if name in os.environ}
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.environment = {
            **clean_environment(),
            **shared,
            "DJANGO_SETTINGS_MODULE": f"tests.projects.{self.name}.settings",
            "DATABASE_URL": self.url(self.database),
            "VALKYR_KEY_PREFIX": f"{self.database}:",
            "VALKYR_PUBLIC_URL": self.address,
            "PYTHONPATH": str(PROJECT),
            **self.environment,
        }

    def url(self, database: str) -> str:
        """Return the address of a database on the tests' server."""
        return f"{os.environ['DATABASE_URL'].rpartition('/')[0]}/{database}"

    def rows(self, sql: str, *values: Any, database: str = "") -> list[tuple[Any, ...]]:
        """Return the rows of a statement on the project's database."""
        with psycopg.connect(self.url(database or self.database), autocommit=True) as session:
            cursor = session.execute(sql, values or None)  # type: ignore[call-overload]
            return cursor.fetchall() if cursor.description else []

    def run(self, *arguments: str, **environment: str) -> str:
        """Return the output of a program of the project; fail the test with its errors."""
        done = self._ran(*arguments, **environment)
        assert done.returncode == 0, f"{arguments}:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
        return done.stdout

    def refused(self, *arguments: str, **environment: str) -> str:
        """Return the errors of a program that must fail; fail the test if it succeeds."""
        done = self._ran(*arguments, **environment)
        assert done.returncode != 0, done.stdout
        return done.stderr

    def _ran(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        named = {**self.environment, **environment}
        return nursery.run([sys.executable, *arguments], environment=named, seconds=LONGEST)

    def seed(self, *databases: str) -> dict[str, str]:
        """Migrate the databases of these aliases and fill them; return what the program reports."""
        program = ("-m", "tests.projects.people.seed", *databases)
        told: dict[str, str] = json.loads(self.run(*program))
        return told

    @contextmanager
    def databases(self, *others: str, own: bool = True) -> Iterator[None]:
        """Create the project's empty database, unless `own` is false, and the others; drop them at
        the end.
        """
        names = [*([self.database] if own else []), *others]
        for name in names:
            self.rows(f'CREATE DATABASE "{name}"', database="postgres")
        try:
            yield
        finally:
            for name in names:
                self.rows(f'DROP DATABASE "{name}" WITH (FORCE)', database="postgres")

    @contextmanager
    def process(self, name: str, *arguments: str, **environment: str) -> Iterator[Any]:
        """Run a process of the project during the block."""
        log = (self.folder / f"{name}.log").open("wb")
        with log:
            process = nursery.from_libraries(
                [sys.executable, *arguments],
                output=log.fileno(),
                environment={**self.environment, **environment},
            )
            try:
                yield process
            finally:
                process.terminate()
                with suppress(subprocess.TimeoutExpired):
                    process.wait(20)
                process.kill()
                process.wait(20)

    @contextmanager
    def web(self) -> Iterator[str]:
        """Run the project's web process; yield its address."""
        arguments = (
            *("-m", "uvicorn", f"tests.projects.{self.name}.asgi:application"),
            *("--host", "127.0.0.1", "--port", str(self.port)),
            *("--lifespan", "off", "--log-level", "warning"),
        )
        with self.process("web", *arguments, VALKYR_POOL="threads") as process:
            log = self.folder / "web.log"

            def answers() -> bool:
                assert process.poll() is None, f"the web process ended:\n{log.read_text()[-3000:]}"
                try:
                    return httpx.get(f"{self.address}/actuator/health/live", timeout=120).is_success
                except httpx.TransportError:
                    return False

            wait_until(answers, 60, "the project's first answer")
            yield self.address

    @contextmanager
    def worker(self) -> Iterator[Any]:
        """Run a Celery worker of the project, for all queues."""
        arguments = (
            *("-m", "celery", "-A", "tests.projects.people", "worker", "-c", "2"),
            *("-Q", "default,io,control", "--loglevel", "WARNING"),
            *("--without-gossip", "--without-mingle"),
        )
        with self.process("worker", *arguments, VALKYR_PROCESS="worker-project") as process:
            yield process
