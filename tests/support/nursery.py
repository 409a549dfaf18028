"""Real processes of this project that do not spend a CPU second on Python's imports.

They are forked from a nurse (`tests/support/nurse.py`). Each set of modules has one nurse, started
on first use.
"""

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from tests.support import nurse
from tests.support.stack import PROJECT
from valkyr_project.embedded.child import start_child

# What workers, beat and the web process load before they read a setting of this project.
LIBRARIES = (
    "celery.app.amqp", "celery.app.control", "celery.app.events", "celery.app.log",
    "celery.backends.redis", "celery.bin.beat", "celery.bin.worker", "celery.concurrency.prefork",
    "celery.concurrency.thread", "celery.contrib.django.task", "celery.loaders.app",
    "celery.schedules", "celery.worker.consumer", "celery.worker.worker", "click",
    "cron_descriptor", "croniter", "csp.checks",
    "cryptography.hazmat.primitives.asymmetric.rsa",
    "cryptography.hazmat.primitives.ciphers.aead", "cryptography.x509",
    "django.contrib.postgres.fields", "django.core.checks", "django.core.management",
    "django.db.backends.postgresql.base", "django.db.migrations.loader", "django.db.models",
    "django.forms", "django.middleware.cache", "django.middleware.csrf",
    "django.template.backends.django", "django.template.defaulttags",
    "django.template.loader_tags", "django.views.debug", "django.views.defaults",
    "django.views.generic", "django.views.i18n", "drf_spectacular", "httpx", "jinja2.sandbox",
    "jsonschema", "jwt", "kombu.transport.redis", "prometheus_client", "psycopg_pool",
    "pydantic.main", "pydantic.root_model", "pydantic.types", "pythonjsonlogger.json",
    "redis.asyncio", "requests", "rest_framework", "uvicorn.main", "yaml",
)  # fmt: skip


class Forked:
    """A process that a nurse forked, with the methods of `subprocess.Popen`."""

    def __init__(self, name: str, said: int) -> None:
        self.args = name
        self.returncode: int | None = None
        self._said = open(said, "rb", buffering=0)  # noqa: SIM115 - closed at its end
        self.pid = self._number()

    def poll(self) -> int | None:
        """Return the exit code (after a signal: minus its number), or None while the process
        runs.
        """
        return self._ended(0)

    def wait(self, timeout: float | None = None) -> int:
        """Wait until the process has ended; return its exit code."""
        code = self._ended(timeout)
        if code is None:
            assert timeout is not None
            raise subprocess.TimeoutExpired(self.args, timeout)
        return code

    def send_signal(self, number: signal.Signals) -> None:
        """Send the signal to the process if it still runs."""
        # There is a moment between its end and the nurse's report.
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask the process to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill the process."""
        self.send_signal(signal.SIGKILL)

    def _ended(self, seconds: float | None) -> int | None:
        if self.returncode is None and select.select([self._said], [], [], seconds)[0]:
            self.returncode = self._number()
            self._said.close()
        return self.returncode

    def _number(self) -> int:
        packed = self._said.read(nurse.NUMBER.size)
        assert packed, f"{self.args}: its nurse is gone"
        return int(nurse.NUMBER.unpack(packed)[0])


class Nursery:
    """Starts processes that have `modules` loaded; `environment` is used while they are loaded.

    The nurse is a child of `parent`'s, if given, and then inherits what that one has loaded.
    """

    def __init__(
        self,
        *modules: str,
        environment: Mapping[str, str] | None = None,
        parent: "Nursery | None" = None,
    ) -> None:
        self._asking, asked = socket.socketpair()
        with asked:
            if parent is None:
                self._nurse: Process = start_child(
                    [sys.executable, nurse.__file__, str(asked.fileno()), *modules],
                    cwd=PROJECT,
                    env=environment,
                    pass_fds=[asked.fileno()],
                    start_new_session=True,
                    death_signal=signal.SIGKILL,
                )
            else:
                request = {"command": modules, "environment": dict(environment or os.environ)}
                self._nurse = parent.ask(request, 2, 2, PROJECT, asked.fileno())
        self._begun: list[Forked] = []

        atexit.register(self.close)

    def close(self) -> None:
        """End the nurse, and the remaining processes that it forked."""
        self._asking.close()
        self._nurse.wait()

    def start(
        self,
        command: Sequence[str],
        *,
        output: int,
        errors: int | None = None,
        environment: Mapping[str, str],
        folder: Path = PROJECT,
    ) -> Forked:
        """Run `python -m module …`, `python script.py …` or `python -c text`, each also with `-W
        ignore`, with exactly this `environment`.

        The process writes into the file numbered `output`, by default also its errors.
        """
        python, *words = command
        assert python == sys.executable, f"{python} is not what the nurse runs"
        request = _request(words) | {"environment": dict(environment)}
        return self.ask(request, output, output if errors is None else errors, folder)

    def ask(
        self, request: dict[str, Any], output: int, errors: int, folder: Path, *more: int
    ) -> Forked:
        """Send a request of `tests/support/nurse.py`, with `more` files; return the process."""
        said, says = os.pipe()
        with tempfile.TemporaryFile("w+", encoding="utf-8") as wanted:
            json.dump(request | {"folder": str(folder)}, wanted)
            wanted.seek(0)
            socket.send_fds(self._asking, [b"1"], [wanted.fileno(), output, errors, says, *more])
        os.close(says)
        self._begun = [*filter(_runs, self._begun), Forked(" ".join(request["command"]), said)]
        return self._begun[-1]

    def busy(self) -> bool:
        """Return whether a process that it started still runs."""
        return any(map(_runs, self._begun))


def _runs(process: Forked) -> bool:
    return process.poll() is None


def _request(words: list[str]) -> dict[str, Any]:
    """Return the nurse's request for a command line."""
    quiet = words[:2] == ["-W", "ignore"]
    words = words[2 * quiet :]
    text = words.pop(1) if words[0] == "-c" else ""
    if words[0] == "-m":
        del words[0]
    return {"command": words, "text": text, "quiet": quiet}


@cache
def of_libraries() -> Nursery:
    """Return the nursery whose children have the libraries loaded, and nothing of this project."""
    return Nursery(*LIBRARIES)


def from_libraries(
    command: Sequence[str],
    *,
    output: int,
    environment: Mapping[str, str],
    folder: Path = PROJECT,
) -> Forked:
    """Start `command` in a process that has already loaded the libraries."""
    return of_libraries().start(command, output=output, environment=environment, folder=folder)


# A process reads these again after it was forked; with others, the project is loaded once more.
OWN = frozenset((
    "CELERY_BROKER_URL", "DATABASE_URL", "REDIS_URL", "VALKYR_FILES_ROOT", "VALKYR_POOL",
    "VALKYR_PROCESS", "VALKYR_PUBLIC_URL", "VALKYR_SQL_ALLOWED_HOSTS",
))  # fmt: skip
MOST_PROJECTS = 4  # each takes 80 MB
PROJECTS: dict[frozenset[tuple[str, str]], Nursery] = {}


def from_project(
    command: Sequence[str],
    *,
    output: int,
    environment: Mapping[str, str],
    folder: Path = PROJECT,
) -> Forked:
    """Start `python -m module …` of this project in a process that has already loaded the project,
    as `make up` does.

    The project is loaded once per set of environment variables that are not in `OWN`.
    """
    if folder != PROJECT:
        return from_libraries(command, output=output, environment=environment, folder=folder)
    shared = frozenset((name, value) for name, value in environment.items() if name not in OWN)
    if shared not in PROJECTS:
        idle = [others for others, one in PROJECTS.items() if not one.busy()]
        for others in idle[: max(0, len(PROJECTS) - MOST_PROJECTS + 1)]:
            PROJECTS.pop(others).close()
        PROJECTS[shared] = Nursery(
            "tests.support.loaded_project", environment=environment, parent=of_libraries()
        )
    return PROJECTS[shared].start(command, output=output, environment=environment)


def run(
    command: Sequence[str],
    *,
    environment: Mapping[str, str],
    folder: Path = PROJECT,
    seconds: float = 120,
) -> "subprocess.CompletedProcess[str]":
    """Run a program in a process that has already loaded the libraries; return its result.

    The program is killed after `seconds`.
    """
    with tempfile.TemporaryFile("w+") as said, tempfile.TemporaryFile("w+") as wrong:
        files = {"output": said.fileno(), "errors": wrong.fileno()}
        forked = of_libraries().start(command, environment=environment, folder=folder, **files)
        try:
            code = forked.wait(seconds)
        finally:
            forked.kill()
        for file in (said, wrong):
            file.seek(0)
        return subprocess.CompletedProcess(list(command), code, said.read(), wrong.read())


def from_nothing(
    command: Sequence[str],
    *,
    output: int,
    environment: Mapping[str, str],
    folder: Path = PROJECT,
) -> subprocess.Popen[bytes]:
    """Start `command` as a user does, without preloaded libraries, to measure how long a start
    takes.
    """
    return start_child(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        death_signal=signal.SIGKILL,
    )


Process = Forked | subprocess.Popen[bytes]
Begin = Callable[..., Process]
